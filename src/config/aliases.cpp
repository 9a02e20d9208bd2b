#include "config/option.h"

namespace tandem {
namespace {

constexpr std::string_view pythonInput =
    "is not built yet; for batches made by threads beside the step use "
    "--input=queue";
constexpr std::string_view remoteInput = "is not built yet; for batches from a queue in this process use --input=queue";
constexpr std::string_view processes =
    "is not built yet: the replicas of a run are threads of one process; "
    "use --strategy=replicated";
constexpr std::string_view noPlanNote = "without a compiled graph each node is one ATen call: the autograd executor";
constexpr std::string_view planNote = "a compiled graph here is the planned executor";
constexpr std::string_view halfNote =
    "fp16 has dynamic loss scaling; on a CPU it is there to check by, bf16 is the fast one of 16 bits";

constexpr std::string_view momentumNote = "SGD with momentum is --optimizer=sgd with --momentum";
constexpr std::string_view rmspropRefusal =
    "is not built yet; of the rules with a rate per weight use --optimizer=adam";

constexpr std::string_view noCuda =
    "needs GPUs and a build with CUDA (cmake --preset cuda), which this is not; "
    "'tandem list all-reduces' has those of CPU replicas";

constexpr Alias table[] = {
    {"num-gpus", "", "replicas", "", "", ""},
    {"batch-size", "", "batch", "", "", ""},
    {"num-batches", "", "steps", "", "", ""},
    {"num-warmup-batches", "", "warmup", "", "", ""},
    {"learning-rate", "", "lr", "", "", ""},
    {"model", "inception3", "model", "inception_v3", "", ""},
    {"model", "inception4", "model", "inception_v4", "", ""},
    {"data-dir", "", "data", "", "", ""},

    {"variable-update", "", "strategy", "", "", ""},
    {"strategy", "horovod", "", "", processes, ""},
    {"strategy", "distributed_replicated", "", "", processes, ""},
    {"strategy", "collective_all_reduce", "", "", processes, ""},
    {"strategy", "byteps", "", "", processes, ""},
    {"local-parameter-device", "", "parameter-device", "", "", ""},
    {"local-parameter-device", "gpu", "parameter-device", "device", "", ""},
    {"all-reduce-spec", "", "all-reduce", "", "", ""},
    {"all-reduce", "nccl", "", "", noCuda, ""},

    {"fake-location", "", "input", "", "", ""},
    {"fake-location", "gpu", "input", "device", "", ""},
    {"fake-location", "cpu", "input", "host", "", ""},
    {"input", "python-queue", "", "", pythonInput, ""},
    {"input", "python-dataset", "", "", pythonInput, ""},
    {"input", "zmq-consume", "", "", remoteInput, ""},

    {"use-fp16", "true", "precision", "fp16", "", halfNote},
    {"use-fp16", "false", "precision", "fp32", "", ""},
    {"data-format", "", "layout", "", "", ""},
    {"layout", "NCHW", "layout", "nchw", "", ""},
    {"layout", "NHWC", "layout", "nhwc", "", ""},

    {"graph", "", "cuda-graph", "", "", ""},

    {"winograd-nonfused", "true", "convolution", "auto", "", ""},
    {"winograd-nonfused", "false", "convolution", "direct", "", ""},
    {"optimizer", "momentum", "optimizer", "sgd", "", momentumNote},
    {"optimizer", "rmsprop", "", "", rmspropRefusal, ""},

    {"use-xla-compile", "true", "executor", "planned", "", planNote},
    {"use-xla-compile", "false", "executor", "autograd", "", noPlanNote},
    {"xla-compile", "true", "executor", "planned", "", planNote},
    {"xla-compile", "false", "executor", "autograd", "", noPlanNote},
    {"xla", "true", "executor", "planned", "", planNote},
    {"xla", "false", "executor", "autograd", "", noPlanNote},
};

}  // namespace

std::span<const Alias> aliases() { return table; }

}  // namespace tandem

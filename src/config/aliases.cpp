#include "config/foreign_flags.h"
#include "config/option.h"

namespace tandem {
namespace {

constexpr std::string_view senderInput =
    "is the sender's part: 'tandem data serve ipc://testpipe --batch=64' sends what zmq-consume takes";
constexpr std::string_view noPlanNote = "without a compiled graph each node is one ATen call: the autograd executor";
constexpr std::string_view fuseNote = "pixels are decoded more coarsely there";
constexpr std::string_view planNote = "a compiled graph here is the planned executor";
constexpr std::string_view halfNote =
    "fp16 has dynamic loss scaling; on a CPU it is there to check by, bf16 is the fast one of 16 bits";

constexpr std::string_view compactNote =
    "gradients are rounded to fp16 for the exchange, and the loss is scaled; bf16 needs no scale";

constexpr std::string_view momentumNote = "SGD with momentum is --optimizer=sgd with --momentum";
constexpr std::string_view epsilonNote =
    "--optimizer=rmsprop adds it behind the root of the mean square, as PyTorch does; TensorFlow adds it below";

constexpr std::string_view onReplicas =
    "a replica sums on its own device, the next one for each bucket; --strategy=parameter_server sums on the host";
constexpr std::string_view bytesOfBuckets =
    "sizes in it are bytes of a bucket here, values of a tensor in tf_cnn_benchmarks";
constexpr std::string_view twoAlgorithms =
    "is for several processes, and not built under this name: use --all-reduce=ring or hierarchical, with --ranks or a "
    "launcher; between processes gradients go by Gloo, or by NCCL on GPUs";
constexpr std::string_view copyNote = "gradients are summed by copies, without NCCL";
constexpr std::string_view onWorkersToo =
    "is not built: use --strategy=replicated with --ranks or a launcher, or parameter_server with --servers";
constexpr std::string_view manyRanks =
    "it is replicated; --ranks, tandem launch, torchrun, mpirun and srun start its processes";
constexpr std::string_view oneHost = "on one host distributed_all_reduce is replicated";
constexpr std::string_view asyncNote =
    "each rank pulls and pushes for itself, at most --max-staleness updates ahead of others";
constexpr std::string_view stagedNote = "weights are pulled while the step before computes";
constexpr std::string_view queueNote = "batches that may wait, as in --queue-depth; --input=device and host have none";
constexpr std::string_view cropsAndFlips = "random crops and flips; of colours there is --augment=...+color_jitter";
constexpr std::string_view cifarNote =
    "--model means the network that tf_cnn_benchmarks has for CIFAR-10; images are synthetic without --data";
constexpr std::string_view cifarNasnet =
    "with --data-name=cifar10 is not built; of the networks for CIFAR-10 use --model=densenet40_k12 or resnet56";
constexpr std::string_view baseNames =
    "v1.5 is the plain name here, and v1 is --model=resnet50_v1: tf_cnn_benchmarks calls v1 resnet50";
constexpr std::string_view firstVersion = "the ResNet-50 of both programs has its stride on the first 1x1, as v1";
constexpr Typed onCifar{"data-name", "cifar10"};

constexpr Alias table[] = {
    {"num-gpus", "", "replicas", "", "", ""},
    {"gpu-indices", "", "devices", "", "", "", "cuda:"},
    {"gpu", "", "devices", "", "", "", "cuda:"},
    {"device", "cpu", "devices", "cpu", "", ""},
    {"device", "gpu", "devices", "cuda", "", ""},
    {"batch-size", "", "batch", "", "", ""},
    {"num-batches", "", "steps", "", "", ""},
    {"num-warmup-batches", "", "warmup", "", "", ""},
    {"learning-rate", "", "lr", "", "", ""},
    {"init-learning-rate", "", "lr", "", "", ""},
    {"tf-random-seed", "", "seed", "", "", ""},
    {"accum-grad", "", "accumulate", "", "", ""},
    {"sync-bn", "", "sync-batch-norm", "", "", ""},
    {"logdir", "", "tensorboard", "", "", ""},
    {"opt", "", "optimizer", "", "", ""},
    {"sched", "", "schedule", "", "", ""},
    {"workers", "", "producers", "", "", ""},
    {"wd", "", "weight-decay", "", "", ""},
    {"data-path", "", "data", "", "", ""},
    {"train-crop-size", "", "train-size", "", "", ""},
    {"init", "", "weights", "", "", ""},
    {"initial-checkpoint", "", "weights", "", "", ""},
    {"channels-last", "true", "layout", "nhwc", "", ""},

    {"model", "inception3", "model", "inception_v3", "", ""},
    {"model", "inception4", "model", "inception_v4", "", ""},
    {"model", "resnet50_v1.5", "model", "resnet50", "", baseNames},
    {"model", "resnet101_v1.5", "model", "resnet101", "", baseNames},
    {"model", "resnet152_v1.5", "model", "resnet152", "", baseNames},
    {"model", "lenet", "model", "lenet5", "", ""},
    {"model", "mobilenet", "model", "mobilenet_v2", "", ""},
    {"model", "nasnet", "", "", cifarNasnet, "", "", onCifar},
    {"model", "nasnet", "model", "nasnet_mobile", "", ""},
    {"model", "nasnetlarge", "model", "nasnet_large", "", ""},
    {"model", "alexnet", "model", "alexnet_cifar", "", "", "", onCifar},
    {"model", "tensorpack", "model", "resnet50_v1", "", firstVersion},
    {"model", "tfbench", "model", "resnet50_v1", "", firstVersion},
    {"depth", "50", "model", "resnet50", "", ""},
    {"depth", "101", "model", "resnet101", "", ""},
    {"depth", "152", "model", "resnet152", "", ""},

    {"data-dir", "", "data", "", "", ""},
    {"data", "none", "data", "synthetic", "", ""},
    {"fake", "true", "data", "synthetic", "", ""},
    {"data-name", "cifar10", "", "", "", cifarNote},
    {"data-name", "imagenet", "", "", "", ""},
    {"data-name", "synthetic", "data", "synthetic", "", ""},
    {"distortions", "true", "augment", "auto", "", cropsAndFlips},
    {"distortions", "false", "augment", "none", "", ""},
    {"prefetch", "", "queue-depth", "", "", queueNote},

    {"variable-update", "", "strategy", "", "", ""},
    {"strategy", "horovod", "strategy", "replicated", "", manyRanks},
    {"strategy", "distributed_all_reduce", "strategy", "replicated", "", oneHost},
    {"strategy", "distributed_replicated", "", "", onWorkersToo, ""},
    {"strategy", "collective_all_reduce", "strategy", "replicated", "", manyRanks},
    {"strategy", "byteps", "", "", onWorkersToo, ""},
    {"job-name", "", "job", "", "", ""},
    {"cross-replica-sync", "true", "server-mode", "sync", "", ""},
    {"cross-replica-sync", "false", "server-mode", "async", "", asyncNote},
    {"staged-vars", "true", "server-mode", "staged", "", stagedNote},
    {"local-parameter-device", "", "parameter-device", "", "", ""},
    {"local-parameter-device", "gpu", "parameter-device", "device", "", ""},
    {"all-reduce-spec", "", "all-reduce", "", "", bytesOfBuckets},
    {"all-reduce-spec", "nccl", "all-reduce", "nccl", "", ""},
    {"all-reduce-spec", "xring", "all-reduce", "ring", "", ""},
    {"all-reduce-spec", "rechd", "all-reduce", "halving_doubling", "", ""},
    {"all-reduce-spec", "collective", "all-reduce", "ring", "", "the collectives of TensorFlow sum around a ring"},
    {"all-reduce-spec", "psgpu", "all-reduce", "copy", "", ""},
    {"all-reduce-spec", "pscpu", "all-reduce", "copy", "", onReplicas},
    {"all-reduce-spec", "nccl/xring", "", "", twoAlgorithms, ""},
    {"all-reduce-spec", "nccl/rechd", "", "", twoAlgorithms, ""},
    {"all-reduce-spec", "nccl/pscpu", "", "", twoAlgorithms, ""},
    {"all-reduce-spec", "pscpu/pscpu", "", "", twoAlgorithms, ""},
    {"hierarchical-copy", "true", "all-reduce", "hierarchical", "", ""},
    {"use-nccl", "true", "all-reduce", "nccl", "", ""},
    {"use-nccl", "false", "all-reduce", "copy", "", copyNote},

    {"fake-location", "", "input", "", "", ""},
    {"fake-location", "gpu", "input", "device", "", ""},
    {"fake-location", "cpu", "input", "host", "", ""},
    {"input", "zmq-serve", "", "", senderInput, ""},

    {"use-fp16", "true", "precision", "fp16", "", halfNote},
    {"use-fp16", "false", "precision", "fp32", "", ""},
    {"compact-gradient-transfer", "true", "gradient-precision", "fp16", "", compactNote},
    {"fp16-allreduce", "true", "gradient-precision", "fp16", "", compactNote},
    {"data-format", "", "layout", "", "", ""},
    {"layout", "NCHW", "layout", "nchw", "", ""},
    {"layout", "NHWC", "layout", "nhwc", "", ""},

    {"graph", "", "cuda-graph", "", "", ""},

    {"winograd-nonfused", "true", "convolution", "auto", "", ""},
    {"winograd-nonfused", "false", "convolution", "direct", "", ""},
    {"optimizer", "momentum", "optimizer", "sgd", "", momentumNote},
    {"rmsprop-momentum", "", "momentum", "", "", ""},
    {"rmsprop-epsilon", "", "adam-epsilon", "", "", epsilonNote},

    {"fuse-decode-and-crop", "true", "decode", "fast", "", fuseNote},
    {"fuse-decode-and-crop", "false", "decode", "exact", "", ""},
    {"use-xla-compile", "true", "executor", "planned", "", planNote},
    {"use-xla-compile", "false", "executor", "autograd", "", noPlanNote},
    {"xla-compile", "true", "executor", "planned", "", planNote},
    {"xla-compile", "false", "executor", "autograd", "", noPlanNote},
    {"xla", "true", "executor", "planned", "", planNote},
    {"xla", "false", "executor", "autograd", "", noPlanNote},
    {"enable-optimizations", "false", "executor", "autograd", "", noPlanNote},
};

}  // namespace

std::span<const Alias> aliases() {
  static const std::vector<Alias> all = [] {
    std::vector<Alias> rows(std::begin(table), std::end(table));
    rows.insert(rows.end(), foreignFlags().begin(), foreignFlags().end());
    return rows;
  }();
  return all;
}

}  // namespace tandem

#include "config/foreign_flags.h"

namespace tandem {
namespace {

constexpr std::string_view noSuchRate =
    "is not built: --schedule has the courses of the rate over the measured --steps (tandem list schedules)";
constexpr std::string_view inBuckets =
    "is not built: --bucket-mib sets the size of the pieces in which gradients are exchanged";
constexpr std::string_view inMemory =
    "pixels are in memory before the first step, image files are read when they are needed, and --producers says how "
    "many "
    "threads make batches";
constexpr std::string_view savedAtTheEnd =
    "is not built: --save-weights=FILE.safetensors keeps the weights after the last step";
constexpr std::string_view inTheRecord = "is not there: every run is a line of the file of --out, with all its samples";
constexpr std::string_view threads = "the threads of a replica are its cores: --cores-per-replica";
constexpr std::string_view scaleIsDynamic = "cannot be set: the scale of the loss follows the gradients; leave it away";
constexpr std::string_view events = "is not built: --tensorboard=FOLDER writes each run's rates and losses";
constexpr std::string_view tensorRt = "is not there: --forward-only runs the network by the executor itself";
constexpr std::string_view queue =
    "is not built under this name: use --queue-depth, the batches that may wait, with --input=queue";
constexpr std::string_view aheadOfGpu = "the host runs ahead of a GPU by --in-flight steps";
constexpr std::string_view shown = "the rate is that of all measured steps, and each is in the record";
constexpr std::string_view ompThreads = "the threads of a replica are pinned and wait by rules of their own";
constexpr std::string_view reads = "is not built under this name: use --weights=FILE, as safetensors or .pth";
constexpr std::string_view inSteps =
    "is of 'tandem train', which has --epochs; bench has --steps, an epoch being the images of --data over those of a "
    "step";
constexpr std::string_view graphsAreFiles =
    "is not there: no network is saved as a graph; 'tandem list models --dump NAME' prints one as a file";

constexpr Alias refuse(std::string_view name, std::string_view refusal, std::string_view value = "") {
  return {name, value, "", "", refusal, ""};
}
constexpr Alias passOver(std::string_view name, std::string_view note, std::string_view value = "") {
  return {name, value, "", "", "", note};
}
constexpr std::string_view yes = "true";

constexpr Alias table[] = {
    // clang-format off
    refuse("eval-interval-secs", noEval),
    refuse("eval", noEval, yes),
    refuse("test-only", noEval, yes),
    refuse("eval-during-training-every-n-steps", noEval),
    refuse("eval-during-training-every-n-epochs", noEval),
    refuse("eval-during-training-at-specified-steps", noEval),
    refuse("eval-during-training-at-specified-epochs", noEval),
    refuse("eval-batch-size", noEval),
    refuse("num-eval-batches", noEval),
    refuse("num-eval-epochs", noEval),
    refuse("stop-at-top-1-accuracy", noEval),
    refuse("collect-eval-results-async", noEval, yes),
    refuse("eval-dir", noEval),
    refuse("validation", noEval),
    refuse("print-training-accuracy", "is not built: the loss of each step is in the record", yes),
    refuse("freeze-when-forward-only", tensorRt, yes),
    refuse("trt-mode", tensorRt),
    refuse("trt-max-workspace-size-bytes", tensorRt),
    refuse("num-epochs", inSteps),
    passOver("autotune-threshold", "kernels are chosen by measurement before the first step (--convolution=auto)"),

    refuse("batch-group-size", "is not built: --producers says how many threads make batches"),
    refuse("resize-method", "is not built under this name: use --augment=random_resized_crop:bicubic+flip or the like, and --interpolation for evaluations"),
    passOver("input-preprocessor", "batches are made by --input", "default"),
    refuse("input-preprocessor", "is not built: use --augment for changes of training images"),
    passOver("use-datasets", "batches are made by --input", yes),
    passOver("use-data-sets", "batches are made by --input", yes),
    refuse("datasets-repeat-cached-sample", "is not built under this name: use --input=device, which repeats one batch", yes),
    passOver("datasets-use-prefetch", inMemory, yes),
    refuse("datasets-prefetch-buffer-size", queue),
    refuse("multi-device-iterator-max-buffer-size", queue),
    refuse("datasets-num-private-threads", "is not built under this name: use --producers"),
    refuse("datasets-prefetch-threadpool-size", "is not built under this name: use --producers"),
    passOver("datasets-use-caching", inMemory, yes),
    passOver("cache-data", inMemory, yes),
    passOver("datasets-parallel-interleave-cycle-length", inMemory),
    passOver("datasets-sloppy-parallel-interleave", inMemory, yes),
    passOver("datasets-parallel-interleave-prefetch", inMemory),
    passOver("distort-color-in-yiq", "color_jitter, a transform of --augment, changes colours by its own rules", yes),
    refuse("no-zmq-ops", "is not built: use --input=queue for batches that threads of this process make", yes),

    passOver("gpu-thread-mode", "one thread of the host drives one GPU"),
    passOver("per-gpu-thread-count", "one thread of the host drives one GPU"),
    refuse("num-intra-threads", "is not built under this name: use --cores-per-replica, which keeps to the CPU"),
    passOver("num-inter-threads", threads),
    passOver("use-numa-affinity", "replicas are pinned, each within one NUMA node where that is possible", yes),
    passOver("mkl", ompThreads, yes),
    passOver("kmp-blocktime", ompThreads),
    passOver("kmp-affinity", ompThreads),
    passOver("kmp-settings", ompThreads),
    refuse("gpu-memory-frac-for-testing", "is not built: --batch=max finds the largest batch that fits"),
    refuse("use-unified-memory", "is not built: --recompute and --accumulate need less memory", yes),
    passOver("allow-growth", "memory of a GPU is taken as it is needed", yes),
    passOver("force-gpu-compatible", "host memory that a GPU reads is pinned", yes),
    passOver("timestamped-allocator", aheadOfGpu, yes),
    passOver("gpu-kt-max-interval", aheadOfGpu),
    passOver("gpu-kt-max-bytes", aheadOfGpu),
    passOver("gpu-kt-max-pending", aheadOfGpu),

    passOver("network-topology", "hierarchical copies group replicas by NUMA nodes and caches, and GPUs in two halves"),
    refuse("gradient-repacking", inBuckets),
    refuse("agg-small-grads-max-bytes", inBuckets),
    refuse("agg-small-grads-max-group", inBuckets),
    passOver("allreduce-merge-scope", "gradients are exchanged in buckets of --bucket-mib"),
    passOver("variable-consistency", "", "strong"),
    refuse("variable-consistency", "is not built under this name: use --server-mode=async or staged"),
    passOver("sync-on-finish", "the measurement begins and ends with a synchronisation, and steps run on between", yes),
    refuse("controller-host", "is not built: worker 0 leads, and all meet at its address in --worker-hosts"),
    refuse("server-protocol", "is not there: processes exchange by Gloo, over TCP"),
    refuse("horovod-device", "is not there: gradients go between CPUs by Gloo, and between GPUs by NCCL"),

    refuse("piecewise-learning-rate-schedule", noSuchRate),
    refuse("num-epochs-per-decay", noSuchRate),
    refuse("learning-rate-decay-factor", noSuchRate),
    refuse("num-learning-rate-warmup-epochs", noSuchRate),
    refuse("minimum-learning-rate", noSuchRate),
    refuse("resnet-base-lr", "is not built under this name: use --lr, the rate at the global batch of the run"),
    refuse("gradient-clip", "is not built, it bounds each value: use --clip-norm, which bounds the norm of all gradients"),
    passOver("weight-decay-norm", "--weight-decay acts on all weights, those of normalization too, unless --decayed=weights", yes),
    passOver("norm", "", "BN"),
    refuse("norm", "is not built: the networks have batch-norm"),
    passOver("single-l2-loss-op", "weight decay is part of the update", yes),
    passOver("loss-type-to-report", "the loss in the record is without weight decay", "base_loss"),
    refuse("loss-type-to-report", "is not built: the loss in the record is without weight decay; use base_loss"),
    passOver("compute-lr-on-cpu", "the host computes the rate once a step", yes),
    passOver("sparse-to-dense-grads", "all gradients are dense", yes),
    refuse("fp16-loss-scale", scaleIsDynamic),
    passOver("fp16-enable-auto-loss-scale", "with --precision=fp16 the scale of the loss always follows the gradients", yes),
    refuse("fp16-inc-loss-scale-every-n", scaleIsDynamic),
    refuse("fp16-vars", "is not built: master weights are fp32 with every --precision; leave it away", yes),

    passOver("use-tf-layers", "a network is a graph of operations", yes),
    passOver("use-resource-vars", "weights lie in flat buffers", yes),
    passOver("use-python32-barrier", "replicas are threads of one process", yes),
    passOver("batchnorm-persistent", "kernels are chosen by measurement before the first step", yes),
    refuse("rewriter-config", "is not there: --executor=autograd runs each node by itself, planned fuses them"),
    refuse("enable-layout-optimizer", "is not built under this name: --layout=auto measures which memory order is faster", yes),
    refuse("debugger", "is not there: --executor=autograd runs each node by itself, and --deterministic repeats the bits"),

    passOver("display-every", shown),
    passOver("display-perf-ewma", shown),
    passOver("print-freq", shown),
    passOver("log-interval", shown),
    refuse("trace-file", "is not built under this name: use --profile --trace=FILE.pftrace"),
    passOver("use-chrome-trace-format", "traces are those of ui.perfetto.dev", yes),
    refuse("tfprof-file", "is not built under this name: use --profile"),
    refuse("graph-file", graphsAreFiles),
    refuse("partitioned-graph-file-prefix", "is not there: 'tandem plan show' prints the calls of a step"),
    refuse("summary-verbosity", events),
    refuse("save-summaries-steps", events),
    refuse("save-model-secs", savedAtTheEnd),
    refuse("save-model-steps", savedAtTheEnd),
    refuse("max-ckpts-to-keep", savedAtTheEnd),
    refuse("train-dir", savedAtTheEnd),
    refuse("pretrain-dir", reads),
    refuse("pretrained", reads, yes),
    refuse("backbone-model-path", reads),
    refuse("load", reads),
    refuse("amp", "is not there under this name: --precision=bf16 or fp16 says which 16 bits", yes),
    refuse("compile", "is not there: the planned executor joins operations without it", yes),
    refuse("ml-perf", "is not built under this name: use --mllog=FILE", yes),
    refuse("benchmark-log-dir", inTheRecord),
    refuse("result-storage", inTheRecord),
    passOver("benchmark-test-id", "a record holds the whole configuration"),
    // clang-format on
};

}  // namespace

std::span<const Alias> foreignFlags() { return table; }

}  // namespace tandem

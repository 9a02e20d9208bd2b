#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/catalog.h"
#include "base/text.h"
#include "data/loader/batch_maker.h"
#include "support/precisions.h"
#include "support/run_replicas.h"
#include "train/replica_set.h"

namespace tandem::equivalence {

constexpr int64_t globalBatch = 24;  // divisible by 1, 2, 3 and 4 replicas
constexpr int64_t imageSize = 12, classes = 5, steps = 5;
constexpr double lossScale = 256;  // nothing overflows: the steps that are skipped depend on the number of replicas

inline Attributes conv3x3(int64_t outputs, bool bias) {
  return {.outputs = outputs, .kernelH = 3, .kernelW = 3, .padding = Padding::all(1), .bias = bias};
}
inline Attributes pool2x2() { return {.kernelH = 2, .kernelW = 2, .strideH = 2, .strideW = 2}; }

/// Without batch-norm: a replica's images do not influence each other.
inline Graph plainNet() {
  Graph net({3, imageSize, imageSize});
  NodeId x = net.add("conv", "conv1", {net.input()}, conv3x3(8, true));
  x = net.add("relu", "relu1", {x});
  x = net.add("max_pool", "pool", {x}, pool2x2());
  x = net.add("conv", "conv2", {x}, conv3x3(16, true));
  x = net.add("relu", "relu2", {x});
  x = net.add("flatten", "flatten", {x});
  net.add("linear", "fc", {x}, {.outputs = classes});
  return net;
}

/// Of few operations, for what is equal to the bit whatever the network: in fp16 a CPU's convolutions take long.
inline Graph smallNet() {
  Graph net({3, imageSize, imageSize});
  Attributes strided = conv3x3(16, true);
  strided.strideH = strided.strideW = 2;
  const NodeId x = net.add("relu", "relu", {net.add("conv", "conv", {net.input()}, strided)});
  net.add("linear", "fc", {net.add("flatten", "flatten", {x})}, {.outputs = classes});
  return net;
}

inline const OptimizerOptions& optimizerOptions() {
  static const OptimizerOptions options{.learningRate = 0.05, .momentum = 0.9, .weightDecay = 0.01};
  return options;
}

struct Case {
  const Graph* graph = nullptr;
  const StrategyEntry* strategy = nullptr;
  std::string allReduce = "shared", parameterDevice = "cpu", precision = "fp32", lossAt = "replica";
  std::string executor = "autograd", recompute = "none";
  LayoutEntry layout = layouts().front();
  OptimizerOptions optimizer = optimizerOptions();
  int replicas = 1, nodes = 1;
  int gpus = 0;  // the replicas lie on, in turn; 0: on CPU devices
  int64_t accumulate = 1;
  bool overlap = true;
  CompressionOptions compression = {};
  int64_t zeroChannels = 0;                // behind the images' own
  int64_t first = 0, count = globalBatch;  // the images of each global batch that all replicas together train on
  std::vector<int64_t> shares = {};        // of the replicas, if they are not equal
  Mixing mixing = {};

  std::string name() const {
    return concat(executor, ' ', ruleOf(optimizer).name, ' ', strategy->name, ' ', allReduce, ' ', parameterDevice, ' ',
                  precision, " loss at ", lossAt, ", ", replicas, " replicas on ",
                  gpus == 0 ? concat(nodes, " nodes") : concat(gpus, " GPUs"),
                  zeroChannels == 0 ? "" : concat(", ", zeroChannels, " channels of zeros"),
                  overlap ? "" : ", exchanged after backward", shares.empty() ? "" : ", unequal shares",
                  mixing.any() ? ", mixed" : "");
  }
};

/// `labels`: those that the graph's loss reads.
inline std::shared_ptr<const BatchMaker> makerOf(int64_t first, int64_t count,
                                                 const LabelKind& labels = labelKinds().front()) {
  DatasetInfo info;
  info.height = info.width = imageSize;
  info.classes = classes;
  info.labels = &labels;
  const std::shared_ptr<const Dataset> dataset = syntheticDataset(100, std::move(info), 3);
  return std::make_shared<BatchMaker>(dataset, BatchPlan{.globalBatch = globalBatch,
                                                         .first = first,
                                                         .count = count,
                                                         .height = imageSize,
                                                         .width = imageSize,
                                                         .seed = 5});
}

inline std::vector<Device> devicesOf(const Case& c) {
  if (c.gpus == 0) return cpuDevices(c.replicas, c.nodes);
  std::vector<Device> devices;
  for (int i = 0; i < c.replicas; ++i) devices.push_back(Device::cuda(i % c.gpus));
  return devices;
}

/// Of the global batch.
struct Rows {
  int64_t first = 0, count = 0;
};

/// The images that a replica trains on.
inline Rows rowsOf(const Case& c, int replica) {
  const int64_t equal = c.count / c.replicas;
  if (c.shares.empty()) return {c.first + replica * equal, equal};
  const auto own = c.shares.begin() + replica;
  return {std::accumulate(c.shares.begin(), own, c.first), *own};
}

inline ReplicaSetOptions replicaSetOptions(const Case& c) {
  const auto devices = std::make_shared<std::vector<Device>>(devicesOf(c));
  const Precision& precision = find(precisions(), c.precision, "precision");
  const auto source = [c, devices, &precision](int replica) {
    const Rows rows = c.lossAt == "gathered" ? Rows{c.first, c.count} : rowsOf(c, replica);
    SourceOptions options;
    options.batches = makerOf(rows.first, rows.count, labelsOf(*c.graph));
    options.form = {.device = &(*devices)[replica],
                    .type = precision.compute,
                    .format = c.layout.format,
                    .zeroChannels = c.zeroChannels};
    options.mixing = c.mixing, options.firstImage = rows.first;
    return find(sources(), "host", "input").make(options);
  };
  ReplicaSetOptions options;
  options.graph = c.graph;
  options.devices = *devices;
  options.executor = &find(executors(), c.executor, "executor");
  options.strategy = c.strategy;
  options.allReduce = &find(allReduces(), c.allReduce, "all-reduce");
  options.parameterDevice = c.parameterDevice;
  options.compression = c.compression;
  options.buckets.bytes = 4096;  // several buckets even in a small net
  options.overlap = c.overlap;
  options.lossPlacement = &find(lossPlacements(), c.lossAt, "loss-at");
  options.precision = &precision;
  options.kernels.layout = c.layout;
  options.kernels.zeroChannels = c.zeroChannels;
  options.optimizer = c.optimizer;
  options.lossScale.initial = lossScale;
  options.recompute = find(recomputes(), c.recompute, "recompute");
  options.shares = c.shares;
  options.accumulate = c.accumulate;
  options.blockingWaits = true;
  options.source = source;
  return options;
}

/// Master weights in the order of the buffers.
struct Weights {
  std::vector<std::string> names;
  std::vector<at::Tensor> values;
};

inline Weights weightsOf(const FlatBuffers& buffers) {
  Weights weights;
  for (int i = 0; i < buffers.parameters(); ++i) {
    weights.names.push_back(buffers.spec(i).name);
    weights.values.push_back(buffers.masterView(i).to(at::kCPU, at::kFloat, /*non_blocking=*/false, /*copy=*/true));
  }
  return weights;
}

struct Trained {
  Weights initial;
  std::vector<Weights> replicas;
};

inline Trained train(const Case& c) {
  Trained trained;
  trained.replicas.resize(c.replicas);
  ReplicaSet(replicaSetOptions(c)).run([&](ReplicaSet::Member& member) {
    if (member.index() == 0) trained.initial = weightsOf(member.buffers());
    for (int64_t step = 0; step < steps; ++step) member.step();
    member.finish();
    trained.replicas[member.index()] = weightsOf(member.buffers());
  });
  return trained;
}

struct Difference {
  double ofNorm = 0;    // |w - expected| / |expected|, the largest of all tensors
  double ofChange = 0;  // |w - expected| / |expected - initial|
  std::string where;
};

/// A ratio that is no number (a tensor that became NaN, or never moved) is the largest difference.
inline double ratio(double distance, double norm) {
  return std::isfinite(distance / norm) ? distance / norm : std::numeric_limits<double>::infinity();
}

inline Difference difference(const Weights& actual, const Weights& expected, const Weights& initial) {
  Difference worst;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    const at::Tensor reference = expected.values[i].to(at::kDouble);
    const double distance = (actual.values[i].to(at::kDouble) - reference).norm().item<double>();
    const double change = ratio(distance, (reference - initial.values[i].to(at::kDouble)).norm().item<double>());
    if (change >= worst.ofChange) worst.where = expected.names[i];
    worst.ofNorm = std::max(worst.ofNorm, ratio(distance, reference.norm().item<double>()));
    worst.ofChange = std::max(worst.ofChange, change);
  }
  return worst;
}

/// The bound of the suite. fp32: 1e-5 of the tensor's norm. On a GPU ten times that: cuDNN may take other algorithms
/// for a joined batch than for a replica's share, and Winograd's rounding is some ten times that of the direct one
/// (kernels/convolution_test.cpp).
///
/// bf16: of the tensor's change over the run. A replica's loss gradient is scaled by other numbers than the joined
/// batch's, so every value on the way back is rounded anew, to 2^-9 of itself, and so are each replica's gradient and
/// the sum. Roundings add up like independent errors: with about 10 of them on the longest path, and a replica's
/// gradient up to sqrt(4) times the norm of the mean, sqrt(10) * 2 * 2^-9 = 2^-6.3 of the change. Measured: 2^-6.7,
/// with batch-norm 2^-5.6. The bound is 2^-4; the seeded bugs differ by 2^-2 and more.
///
/// fp16: roundings are an eighth of that, but a value that falls on the other side of a ReLU, or loses a max pool,
/// moves a gradient by one of some thousand terms in any type, and that is what is left. Measured: 2^-6.8, with
/// batch-norm 2^-6.0. The bound is 2^-5.
inline bool equal(const Difference& difference, const Case& c) {
  const at::ScalarType type = find(precisions(), c.precision, "precision").compute;
  if (type == at::kFloat) return difference.ofNorm <= (c.gpus > 0 ? 1e-4 : 1e-5);
  return difference.ofChange <= (type == at::kHalf ? 0x1p-5 : 0x1p-4);
}

}  // namespace tandem::equivalence

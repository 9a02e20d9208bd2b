#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/catalog.h"
#include "base/error.h"
#include "strategy/strategy.h"
#include "support/precisions.h"
#include "support/run_ranks.h"
#include "support/run_replicas.h"
#include "support/table.h"

namespace tandem {

inline at::Tensor gradientOf(int replica, int parameter, int64_t step, int64_t count) {
  return at::sin(at::arange(count, at::kFloat) * 0.3 + replica * 2.1 + parameter + static_cast<double>(step) * 0.7);
}

/// Training without a network: gradients are a formula of replica, parameter and step.
struct SyntheticRun {
  const StrategyEntry* strategy = nullptr;
  std::string allReduce = "shared", parameterDevice = "cpu", precision = "fp32";
  std::string larger{};         ///< all-reduce of tensors of more than 300 bytes; empty: as that of all
  std::string gradients{};      ///< type in which they travel; empty: that in which they are computed
  int replicas = 1, nodes = 1;  ///< replicas: of a process
  int ranks = 1;                ///< processes, for which threads stand in
  bool block = true;
  bool overlap = true;  ///< gradients are told of one by one, while others are still made; else all behind the last
  int64_t steps = 5;
  BucketSize buckets{.bytes = 500};
  ServerOptions servers = {};
  LocalSgdOptions localSgd = {};
  CompressionOptions compression = {};
  at::Tensor (*gradient)(int replica, int parameter, int64_t step, int64_t count) = gradientOf;
  double slope = 0;  ///< of the gradient over the weights that the replica has
  OptimizerOptions optimizer{.learningRate = 0.1, .momentum = 0.9, .weightDecay = 0.01};
  /// Sees each replica's buffers after beginStep.
  std::function<void(int rank, int64_t step, FlatBuffers&)> atBegin = nullptr;
  /// Of the loss that gradients are of; none.
  std::optional<LossScaleRule> lossScale = std::nullopt;
  /// Changes a gradient of batch number `batch`.
  std::function<void(int rank, int64_t batch, int parameter, at::Tensor gradient)> spoil = nullptr;
  /// The batch of that number is left out, by a run of so many steps less.
  int64_t leftOut = -1;
  /// Sees each replica's loss scale at the end.
  std::function<void(int rank, const LossScale&)> atEnd = nullptr;
  /// Sees each replica's strategy at the end.
  std::function<void(int rank, const Strategy&)> lookAt = nullptr;
};

/// What the formula of the run gives. Many replicas, runs and oracles share it: not to be written to.
inline at::Tensor madeGradient(const SyntheticRun& run, int replica, int parameter, int64_t step, int64_t count) {
  static Table<std::tuple<std::uintptr_t, int, int, int64_t, int64_t>, at::Tensor> known;
  return known.of({reinterpret_cast<std::uintptr_t>(run.gradient), replica, parameter, step, count},
                  [&] { return run.gradient(replica, parameter, step, count); });
}

inline std::vector<ParameterSpec> syntheticSpecs() {
  return {{"d", {30}, false}, {"c", {10}, true}, {"b", {20, 50}, false}, {"e", {3, 2, 1, 1}, false}, {"a", {77}, true}};
}

inline at::Tensor initialOf(int parameter, int64_t count) {
  return at::cos(at::arange(count, at::kFloat) * 0.1 + parameter);
}

inline const Precision& precisionOf(const SyntheticRun& run) {
  const Precision& precision = find(precisions(), run.precision, "precision");
  if (run.gradients.empty()) return precision;
  return withGradients(precision, find(gradientPrecisions(), run.gradients, "gradients"));
}

inline AllReduceBySize allReduceOf(const SyntheticRun& run) {
  const AllReduceEntry& row = find(allReduces(), run.allReduce, "all-reduce");
  if (run.larger.empty()) return &row;
  return {{&row, &find(allReduces(), run.larger, "all-reduce")}, {300}};
}

inline FlatBuffers syntheticBuffers(const SyntheticRun& run) {
  return {syntheticSpecs(), precisionOf(run), at::kCPU, at::MemoryFormat::ChannelsLast};
}

/// The strategy of a run, on `devices`, which must outlive it.
inline std::unique_ptr<Strategy> makeStrategy(const SyntheticRun& run, const std::vector<Device>& devices,
                                              Monitor& monitor, World* world = nullptr) {
  return run.strategy->make(
      {.devices = pointersTo(devices),
       .monitor = &monitor,
       .world = world,
       .allReduce = allReduceOf(run),
       .buckets = run.buckets,
       .parameterDevice = run.parameterDevice,
       .servers = run.servers,
       .localSgd = run.localSgd,
       .compression = run.compression,
       .precision = &precisionOf(run),
       .format = at::MemoryFormat::ChannelsLast,
       .makeOptimizer = [run](FlatBuffers& buffers) { return makeOptimizer(buffers, run.optimizer); },
       .wholeParameters = ruleOf(run.optimizer).needsWholeParameters});
}

/// The run's strategy, to which all replicas of this process are attached. `devices` must outlive it.
inline std::unique_ptr<Strategy> attached(const SyntheticRun& run, const std::vector<Device>& devices, Monitor& monitor,
                                          World* world = nullptr) {
  auto made = makeStrategy(run, devices, monitor, world);
  runReplicas(run.replicas, monitor, [&](int index) {
    FlatBuffers buffers = syntheticBuffers(run);
    const auto optimizer = makeOptimizer(buffers, run.optimizer);
    Replica replica{index, devices[static_cast<size_t>(index)], buffers, *optimizer};
    made->attach(replica);
  });
  return made;
}

/// SyntheticRun::spoil: of batch 2, one gradient of that replica overflows.
inline auto overflowOf(int replica) {
  return [=](int number, int64_t batch, int of, at::Tensor gradient) {
    if (number == replica && batch == 2 && of == 1) gradient[0] = std::numeric_limits<float>::infinity();
  };
}

/// `first`: the number of the process's first replica among all of the run.
inline void trainReplica(const SyntheticRun& run, Strategy& strategy, Replica replica, int first = 0) {
  FlatBuffers& buffers = replica.buffers;
  const int number = first + replica.index;
  replica.optimizer.setLossScale(replica.lossScale);
  strategy.attach(replica);
  for (int64_t step = 0; step < run.steps; ++step) {
    const int64_t batch = run.leftOut >= 0 && step >= run.leftOut ? step + 1 : step;
    const double scale = replica.lossScale == nullptr ? 1 : replica.lossScale->state().scale;
    strategy.beginStep(replica, step);
    if (run.atBegin) run.atBegin(number, step, buffers);
    std::vector<Slice> putOff;
    for (int i = 0; i < buffers.parameters(); ++i) {
      const bool backwards = number % 2 == 1;  // the order of gradients is no promise
      const int parameter = backwards ? buffers.parameters() - 1 - i : i;
      const Slice slice = buffers.slice(parameter);
      at::Tensor gradient = madeGradient(run, number, parameter, batch, slice.count());
      if (run.slope != 0) gradient = gradient + buffers.weights(slice).to(at::kFloat) * run.slope;
      buffers.written(slice).copy_(gradient * scale);
      if (run.spoil) run.spoil(number, batch, parameter, buffers.written(slice));
      buffers.roundGradients({&slice, 1});
      if (run.overlap) {
        strategy.gradientReady(replica, slice);
      } else {
        putOff.push_back(slice);
      }
    }
    for (const Slice slice : putOff) strategy.gradientReady(replica, slice);
    strategy.endStep(replica);
    if (replica.lossScale != nullptr) replica.lossScale->endStep();
  }
  strategy.finish(replica);
  if (run.atEnd) run.atEnd(number, *replica.lossScale);
  if (run.lookAt) run.lookAt(number, strategy);
}

/// The replicas of a process that only serves.
inline void serveProcess(const SyntheticRun& run, const std::vector<Device>& devices, Strategy& strategy,
                         Monitor& monitor, int first) {
  runReplicas(run.replicas, monitor, [&](int index) {
    FlatBuffers buffers = syntheticBuffers(run);
    const auto optimizer = makeOptimizer(buffers, run.optimizer);
    const auto scale = run.lossScale ? std::make_unique<LossScale>(at::kCPU, *run.lossScale) : nullptr;
    Replica replica{index, devices[static_cast<size_t>(index)], buffers, *optimizer, scale.get()};
    strategy.attach(replica);
    for (int64_t step = 0; step < run.steps; ++step) {
      strategy.beginStep(replica, step);
      if (run.atBegin) run.atBegin(first + index, step, buffers);
      strategy.endStep(replica);
      if (scale) scale->endStep();
    }
    strategy.finish(replica);
    if (run.lookAt) run.lookAt(first + index, strategy);
  });
}

/// The replicas of a process, whose buffers go to `all`. Only the run's first replica starts from the right parameters.
inline void trainProcess(const SyntheticRun& run, const std::vector<Device>& devices,
                         std::vector<std::unique_ptr<FlatBuffers>>& all, World* world) {
  Monitor monitor(run.block);
  const auto strategy = makeStrategy(run, devices, monitor, world);
  const int rank = world == nullptr ? 0 : world->place().rank, first = rank * run.replicas;
  if (rank >= run.ranks) return serveProcess(run, devices, *strategy, monitor, first);
  runReplicas(run.replicas, monitor, [&](int index) {
    auto& buffers = all[static_cast<size_t>(first) + static_cast<size_t>(index)];
    buffers = std::make_unique<FlatBuffers>(syntheticBuffers(run));
    for (int i = 0; i < buffers->parameters(); ++i) {
      const Slice slice = buffers->slice(i);
      buffers->master(slice).copy_(first + index == 0 ? initialOf(i, slice.count()) : at::full({slice.count()}, 7.0));
    }
    buffers->refreshWeights();
    const auto optimizer = makeOptimizer(*buffers, run.optimizer);
    const auto scale = run.lossScale ? std::make_unique<LossScale>(at::kCPU, *run.lossScale) : nullptr;
    trainReplica(run, *strategy, {index, devices[index], *buffers, *optimizer, scale.get()}, first);
  });
}

/// Buffers of all replicas after the run, the same memory where replicas share it.
inline std::vector<std::unique_ptr<FlatBuffers>> train(const SyntheticRun& run, const std::vector<Device>& devices) {
  std::vector<std::unique_ptr<FlatBuffers>> all(run.ranks * run.replicas);
  const int processes = run.ranks + static_cast<int>(run.servers.alone);
  if (processes == 1) {
    trainProcess(run, devices, all, nullptr);
  } else {
    runRanks(processes, [&](World& world) { trainProcess(run, devices, all, &world); });
  }
  return all;
}

inline std::vector<std::unique_ptr<FlatBuffers>> train(const SyntheticRun& run) {
  return train(run, cpuDevices(run.replicas, run.nodes));
}

/// One parameter and what its optimizer keeps of it, in double, by the rules of the papers.
struct Textbook {
  at::Tensor w, mean = at::zeros_like(w), square = at::zeros_like(w);

  void sgd(const at::Tensor& g, const OptimizerOptions& o) {
    mean = mean * o.momentum + g + w * o.weightDecay;
    w = w - mean * o.learningRate;
  }
  void adam(at::Tensor g, const OptimizerOptions& o, int64_t number, bool decoupled) {
    if (decoupled) w = w * (1 - o.learningRate * o.weightDecay);
    if (!decoupled) g = g + w * o.weightDecay;
    mean = mean * o.beta1 + g * (1 - o.beta1);
    square = square * o.beta2 + g * g * (1 - o.beta2);
    const auto t = static_cast<double>(number);
    const at::Tensor root = (square / (1 - std::pow(o.beta2, t))).sqrt();
    w = w - o.learningRate * mean / (1 - std::pow(o.beta1, t)) / (root + o.epsilon);
  }
  void rmsprop(at::Tensor g, const OptimizerOptions& o) {
    g = g + w * o.weightDecay;
    square = square * o.squareDecay + g * g * (1 - o.squareDecay);
    mean = mean * o.momentum + g / (square.sqrt() + o.epsilon);
    w = w - mean * o.learningRate;
  }
  void lars(const at::Tensor& g, const OptimizerOptions& o) {
    const at::Tensor ratio = o.trust * w.norm() / (g.norm() + o.weightDecay * w.norm());
    mean = mean * o.momentum + o.learningRate * ratio * (g + o.weightDecay * w);
    w = w - mean;
  }
  void lamb(const at::Tensor& g, const OptimizerOptions& o, int64_t number) {
    Textbook plain{at::zeros_like(w), mean, square};
    OptimizerOptions unit = o;
    unit.learningRate = 1, unit.weightDecay = 0;
    plain.adam(g, unit, number, false);
    mean = plain.mean, square = plain.square;
    const at::Tensor u = w * o.weightDecay - plain.w;
    w = w - o.learningRate * w.norm() / u.norm() * u;
  }
  void step(const at::Tensor& g, const OptimizerOptions& o, int64_t number) {
    const std::string_view name = ruleOf(o).name;
    if (name == "sgd") return sgd(g, o);
    if (name == "rmsprop") return rmsprop(g, o);
    if (name == "lars") return lars(g, o);
    if (name == "lamb") return lamb(g, o, number);
    check(name == "adam" || name == "adamw", "the textbook knows every optimizer");
    adam(g, o, number, name == "adamw");
  }
};

/// The nearest value with so many bits of fraction, ties to even; below the least exponent with fewer bits (IEEE 754).
/// [n] in double.
inline at::Tensor roundedTo(at::ScalarType type, const at::Tensor& values) {
  const bool half = type == at::kHalf;
  check(half || type == at::kBFloat16, "gradients are rounded to 16 bits");
  const int fraction = half ? 10 : 7, leastExponent = half ? -14 : -126;
  const at::Tensor exponent = at::log2(values.abs()).floor().clamp_min(leastExponent);
  const at::Tensor unit = at::exp2(exponent - fraction);
  return at::round(values / unit) * unit;
}

/// The gradient as it is exchanged, in double: rounded to its own type, and from that to the type of the exchange.
inline at::Tensor roundedGradient(const SyntheticRun& run, int replica, int parameter, int64_t step) {
  const ParameterSpec spec = syntheticSpecs()[static_cast<size_t>(parameter)];
  const Precision& precision = precisionOf(run);
  const bool staysFp32 = spec.fp32 && precision.compute != precision.master;
  const at::Tensor whole = madeGradient(run, replica, parameter, step, c10::multiply_integers(spec.shape));
  const at::Tensor own = whole.to(staysFp32 ? precision.master : precision.compute).to(at::kDouble);
  return staysFp32 || !roundsGradients(precision) ? own : roundedTo(precision.wire, own);
}

/// The same, shared as that of madeGradient() is.
inline at::Tensor exchangedGradient(const SyntheticRun& run, int replica, int parameter, int64_t step) {
  static Table<std::tuple<std::uintptr_t, std::string, std::string, int, int, int64_t>, at::Tensor> known;
  const auto formula = reinterpret_cast<std::uintptr_t>(run.gradient);
  return known.of({formula, run.precision, run.gradients, replica, parameter, step},
                  [&] { return roundedGradient(run, replica, parameter, step); });
}

/// Weights after `steps` by the textbook rule, in double; gradients are the mean over replicas [first, last).
inline at::Tensor expectedMaster(const SyntheticRun& run, int parameter, int64_t steps, int first, int last) {
  const int64_t count = c10::multiply_integers(syntheticSpecs()[static_cast<size_t>(parameter)].shape);
  Textbook book{initialOf(parameter, count).to(at::kDouble)};
  for (int64_t step = 0; step < steps; ++step) {
    at::Tensor g = at::zeros_like(book.w);
    for (int replica = first; replica < last; ++replica) {
      g += exchangedGradient(run, replica, parameter, step);
    }
    book.step(g / (last - first), run.optimizer, step + 1);
  }
  return book.w;
}

/// What is left after 5 steps of rounding: fp32 2^-24 per operation; in 16 bits each of at most n partial sums is
/// rounded, in bf16 to 2^-9 of itself, and the weights have moved by about their own norm.
inline double roundingBound(const SyntheticRun& run) {
  const at::ScalarType type = precisionOf(run).wire;
  return type == at::kFloat ? 1e-6 : 4 * unitOf(type);
}

inline double relativeDifference(const at::Tensor& actual, const at::Tensor& expected) {
  return ((actual.to(at::kDouble) - expected).norm() / expected.norm()).item<double>();
}

}  // namespace tandem

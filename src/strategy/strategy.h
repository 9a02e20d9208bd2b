#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/group.h"
#include "device/device.h"
#include "device/flat_buffers.h"
#include "device/monitor.h"
#include "optim/optimizer.h"

namespace tandem {

/// The part of a replica that a strategy may touch.
struct Replica {
  int index = 0;
  const Device& device;
  FlatBuffers& buffers;
  Optimizer& optimizer;            ///< of `buffers`
  LossScale* lossScale = nullptr;  ///< of the optimizer; null without loss scaling
};

struct StrategyTraffic {
  double bytesPerStep = 0;  ///< received per replica
  double messagesPerStep = 0;
};

/// How the gradients of all replicas become one update. One object per process; its methods are called concurrently,
/// each on its replica's thread (gradientReady: on the thread where backward runs), and every replica makes the same
/// calls.
class Strategy {
 public:
  virtual ~Strategy() = default;  ///< never communicates

  /// Collective; afterwards every replica holds replica 0's parameters. Replicas may share their memory from then on,
  /// so nobody keeps a view of them from before.
  virtual void attach(Replica& replica) = 0;
  /// The optimizer's step `step` begins, from 0 (Optimizer::beginStep()); what must come before the batch is done, as a
  /// pull from the parameter server. What follows, to the end of endStep(), is the same work in every step.
  virtual void beginStep(Replica& replica, int64_t step) = 0;
  /// During backward, or all of them behind it; may start communication and update weights, must not wait.
  virtual void gradientReady(Replica&, Slice) {}
  /// Exchange finished, update applied. With a loss scale its step ends next (LossScale::endStep()): it knows then of
  /// every gradient that this replica's weights are made of, and so did all updates.
  virtual void endStep(Replica& replica) = 0;
  /// Once after the last step, before parameters are read: they are those of the last update.
  virtual void finish(Replica&) {}
  virtual StrategyTraffic traffic() const = 0;
  /// What memory gradients are exchanged from, where there is a choice (Group::memoryText()); once all are attached.
  virtual std::string exchangeMemory() const { return {}; }
};

/// What the result of a strategy is equal to; picks the oracle of the conformance test.
enum class Exchange { synchronous, none };

struct StrategyContext {
  std::vector<const Device*> devices;  ///< one per replica
  Monitor* monitor = nullptr;          ///< of the run; outlives the strategy
  const AllReduceEntry* allReduce = nullptr;
  int64_t bucketBytes = 0;
  std::string parameterDevice;  ///< "cpu", "device" or a device's name
  const Precision* precision = nullptr;
  at::MemoryFormat format = at::MemoryFormat::ChannelsLast;
  std::function<std::unique_ptr<Optimizer>(FlatBuffers&)> makeOptimizer;
};

struct StrategyEntry {
  std::string_view name, summary;
  Exchange exchange;
  /// Whether from the first gradientReady() to the end of endStep() replicas only enqueue work of their devices, so
  /// that it can be recorded (device/captured_graph.h).
  bool (*enqueuesOnly)(const AllReduceEntry&, int64_t replicas);
  std::unique_ptr<Strategy> (*make)(const StrategyContext&);
  bool usesAllReduce = false;        ///< --all-reduce says how gradients are summed
  bool usesParameterDevice = false;  ///< --parameter-device says where one more copy of the weights is kept and updated
};

/// replicated, parameter_server, independent.
std::span<const StrategyEntry> strategies();

}  // namespace tandem

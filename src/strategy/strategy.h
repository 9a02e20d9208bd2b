#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/monitor.h"
#include "comm/group.h"
#include "device/device.h"
#include "device/flat_buffers.h"
#include "optim/optimizer.h"

namespace tandem {

/// The part of a replica that a strategy may touch.
struct Replica {
  int index = 0;
  const Device& device;
  FlatBuffers& buffers;
  Optimizer& optimizer;  ///< of `buffers`
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
  virtual void beginStep(Replica&, int64_t /*step*/) {}  ///< e.g. pull from the parameter server
  /// During backward; may start communication and update weights, must not wait.
  virtual void gradientReady(Replica&, Slice) {}
  /// Exchange finished, update of step `step` applied.
  virtual void endStep(Replica& replica, int64_t step) = 0;
  /// Once after the last step, before parameters are read: they are those of the last update.
  virtual void finish(Replica&) {}
  virtual StrategyTraffic traffic() const = 0;
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
  std::unique_ptr<Strategy> (*make)(const StrategyContext&);
};

/// replicated, parameter_server, independent.
std::span<const StrategyEntry> strategies();

}  // namespace tandem

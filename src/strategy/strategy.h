#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/all_reduce_by_size.h"
#include "comm/buckets.h"
#include "comm/world.h"
#include "device/device.h"
#include "device/flat_buffers.h"
#include "device/monitor.h"
#include "optim/optimizer.h"
#include "strategy/compression/compression.h"

namespace tandem {

/// The part of a replica that a strategy may use.
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
  double bytesBetweenRanks = 0;  ///< of bytesPerStep, those from other processes; `notKnown` where a library chooses
  static constexpr double notKnown = -1;

  StrategyTraffic& operator+=(const StrategyTraffic& more) {
    const bool known = bytesBetweenRanks >= 0 && more.bytesBetweenRanks >= 0;
    bytesPerStep += more.bytesPerStep, messagesPerStep += more.messagesPerStep;
    bytesBetweenRanks = known ? bytesBetweenRanks + more.bytesBetweenRanks : notKnown;
    return *this;
  }
  StrategyTraffic& operator*=(double times) {
    bytesPerStep *= times, messagesPerStep *= times;
    if (bytesBetweenRanks >= 0) bytesBetweenRanks *= times;
    return *this;
  }
};

/// How old weights were when a gradient of them was used: by so many updates that they lack.
struct Staleness {
  int64_t updates = 0;        ///< of which it is known
  int64_t sum = 0, most = 0;  ///< over these

  void add(int64_t lacked) { ++updates, sum += lacked, most = std::max(most, lacked); }
};

/// How the gradients of all replicas become one update. There is one object per process, which may exchange with those
/// of other processes. Every replica makes the same
/// calls, each on its own thread and concurrently with the others; gradientReady() is called on backward's thread.
class Strategy {
 public:
  virtual ~Strategy() = default;  ///< never communicates

  /// Collective. Afterwards every replica holds replica 0's parameters. Their memory may be shared from then on, so
  /// views from before must not be used.
  virtual void attach(Replica& replica) = 0;
  /// Begins the optimizer's step `step`, from 0 (Optimizer::beginStep()), and does what must precede the batch, such as
  /// a pull from the parameter server. What follows, to the end of endStep(), is the same work in every step.
  virtual void beginStep(Replica& replica, int64_t step) = 0;
  /// Called during backward or after it. May start communication and update weights, must not wait.
  virtual void gradientReady(Replica&, Slice) {}
  /// Finishes the exchange and the update. With a loss scale, LossScale::endStep() comes next. The scale then knows of
  /// every gradient in this replica's weights, as all updates did.
  virtual void endStep(Replica& replica) = 0;
  /// Called once after the last step, before parameters are read; makes them those of the last update.
  virtual void finish(Replica&) {}
  /// Between two steps: makes parameters those of the last update, as finish() does, and the training goes on.
  /// REQUIRES: StrategyEntry::canPause.
  virtual void settle(Replica& replica) { finish(replica); }
  /// After settle(), and a barrier: makes the optimizer's state in this replica's buffers that of the last update, of
  /// all parameters. A server's state goes to replica 0 alone.
  virtual void gatherState(Replica&) {}
  /// The reverse: goes on from the parameters and the optimizer's state that all replicas' buffers hold alike. Called
  /// after attach(), before the first step.
  virtual void adoptState(Replica&) {}
  /// What else this replica must keep, so that the training goes on with the same bits: tensors by name, which may be
  /// read and written between steps.
  virtual std::vector<std::pair<std::string, at::Tensor>> ownState(Replica&) { return {}; }
  virtual StrategyTraffic traffic() const = 0;
  /// The kind of memory that gradients are exchanged from, if there is a choice (Group::memoryText()). Valid once all
  /// replicas are attached.
  virtual std::string exchangeMemory() const { return {}; }
  /// What sums which messages, (AllReduceBySize::textFor()); empty: no all-reduce, or one that always does. Valid as
  /// above.
  virtual std::string sums() const { return {}; }
  /// Of all updates that this process has made so far. Empty where gradients are always those of the newest weights.
  virtual std::optional<Staleness> staleness() const { return std::nullopt; }
};

/// What a strategy's result equals. Selects the oracle of the conformance test.
enum class Exchange {
  synchronous,  ///< one replica on the joined batch
  none,         ///< separate trainings
  stale,        ///< trainings that are joined now and then, or whose gradients are those of older weights
  lossy,        ///< one replica, on what is left of all gradients
};

/// How replicas that train alone are joined (LocalSgd).
struct LocalSgdOptions {
  int64_t syncEvery = 8;     ///< steps between two averages, at least 1
  double blockMomentum = 0;  ///< of the change from average to average, at least 0 and below 1
};

/// Which ranks keep the variables of a parameter server, and how it is asynchronous.
struct ServerOptions {
  int64_t ranks = 0;           ///< the first so many, beside their replicas; 0: all
  int64_t alone = 0;           ///< not these, but so many more behind them, whose replicas compute nothing
  int64_t maxStaleness = 0;    ///< rounds that a rank may be ahead of the slowest
  double timeoutSeconds = 60;  ///< how long a server waits for a rank that others wait for
};

struct StrategyContext {
  std::vector<const Device*> devices;  ///< one per replica
  Monitor* monitor = nullptr;          ///< the run's; outlives the strategy
  World* world = nullptr;              ///< of the run's processes; outlives the strategy. Null: there is this one
  AllReduceBySize allReduce = {};
  BucketSize buckets = {};
  std::string parameterDevice;  ///< "cpu", "device" or a device's name
  ServerOptions servers = {};
  LocalSgdOptions localSgd = {};
  CompressionOptions compression = {};
  const Precision* precision = nullptr;
  at::MemoryFormat format = at::MemoryFormat::ChannelsLast;
  std::function<std::unique_ptr<Optimizer>(FlatBuffers&)> makeOptimizer;
  bool wholeParameters = false;  ///< OptimizerEntry::needsWholeParameters: nobody updates a part of a parameter
};

struct StrategyEntry {
  std::string_view name, summary;
  std::string_view mode = {};  ///< of --server-mode, where it is not the first
  Exchange exchange;
  /// Whether replicas only enqueue device work from the first gradientReady() to the end of endStep(). Such a step can
  /// be captured (device/captured_graph.h).
  bool (*enqueuesOnly)(const AllReduceBySize&, int64_t replicas);
  std::unique_ptr<Strategy> (*make)(const StrategyContext&);
  bool clips = true;                ///< knows all gradients of a step before its first update: Optimizer::clips()
  bool canPause = false;            ///< between steps weights may be evaluated, saved and set: Strategy::settle()
  bool usesAllReduce = false;       ///< --all-reduce says how gradients are summed
  bool crossesRanksOnGpus = false;  ///< replicas of several processes (StrategyContext::world) may lie on GPUs
  bool runsOnGpus = true;
  bool exchangesGradients = true;  ///< else weights, or nothing
  bool ranksUpdateAlone = false;  ///< each process makes an update of its own in a step, on threads beside its replicas
  bool usesServer = false;        ///< one more copy of the weights is kept and updated where --parameter-device says
  bool putsWeightsAside = false;  ///< servers keep one more copy of their weights
  bool ownersUpdate = false;      ///< takes an all-reduce whose owners update (AllReduceEntry::ownersUpdate)
  bool usesLocalSgd = false;      ///< reads StrategyContext::localSgd
  bool usesCompression = false;   ///< reads StrategyContext::compression
  bool sendsGradients = false;    ///< gradients travel as they are, in Precision::wire
  int64_t rankGroups = 1;         ///< groups in which each replica exchanges with those of other processes
  int64_t ownValues = 0;          ///< the most fp32 values that each replica keeps for a weight, for the exchange
};

/// What a strategy's result equals with gradients of this precision. Where they lose bits to be exchanged, a
/// synchronous one is lossy.
inline Exchange exchangeOf(const StrategyEntry& strategy, const Precision& precision) {
  const bool loses = strategy.sendsGradients && roundsGradients(precision);
  return strategy.exchange == Exchange::synchronous && loses ? Exchange::lossy : strategy.exchange;
}

/// Whether a strategy that uses an all-reduce can use one whose owners update, or do not.
inline bool accepts(const StrategyEntry& strategy, bool ownersUpdate) {
  return !strategy.usesAllReduce || strategy.ownersUpdate || !ownersUpdate;
}
inline bool accepts(const StrategyEntry& strategy, const AllReduceEntry& row) {
  return accepts(strategy, row.ownersUpdate);
}

/// replicated, parameter_server, local_sgd, compressed, independent.
std::span<const StrategyEntry> strategies();

/// A row of --server-mode.
struct ServerModeEntry {
  std::string_view name, summary;
  StrategyEntry strategy;      ///< the strategy with a server, in this mode
  bool usesStaleness = false;  ///< reads ServerOptions::maxStaleness
};

/// sync, async, staged. The first is that of strategies().
std::span<const ServerModeEntry> serverModes();

/// The row of `strategy`, or with a server that of `mode`. Throws UsageError for an unknown name.
const StrategyEntry& strategyInMode(std::string_view strategy, std::string_view mode);

/// The first that keeps variables on servers.
const StrategyEntry& strategyWithServers();

/// "local_sgd", "parameter_server --server-mode=async": the options that name a row.
std::string optionsText(const StrategyEntry& strategy);

}  // namespace tandem

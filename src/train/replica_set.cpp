#include "train/replica_set.h"

#include <algorithm>
#include <latch>
#include <numeric>
#include <system_error>
#include <thread>

#include "base/text.h"
#include "comm/joined_group.h"
#include "comm/world.h"
#include "graph/operation.h"
#include "trace/flight_recorder.h"
#include "train/replica.h"
#include "train/replica_statistics.h"
#include "train/serving_replica.h"

namespace tandem {
namespace {

constexpr uint64_t dropoutSeedStep = 0x9E3779B97F4A7C15ULL;

std::vector<const Device*> pointers(const std::vector<Device>& devices) {
  std::vector<const Device*> all;
  for (const Device& device : devices) all.push_back(&device);
  return all;
}

StrategyContext strategyContext(const ReplicaSetOptions& options, Monitor& monitor) {
  OptimizerOptions optimizer = options.optimizer;
  if (options.strategy->ranksUpdateAlone && options.world != nullptr) {
    optimizer.updatesPerStep = options.world->place().size - options.servers.alone;
  }
  return {.devices = pointers(options.devices),
          .monitor = &monitor,
          .world = options.world,
          .allReduce = options.allReduce,
          .buckets = options.buckets,
          .parameterDevice = options.parameterDevice,
          .servers = options.servers,
          .localSgd = options.localSgd,
          .compression = options.compression,
          .precision = options.precision,
          .format = options.kernels.layout.format,
          .makeOptimizer = [optimizer](FlatBuffers& buffers) { return makeOptimizer(buffers, optimizer); },
          .wholeParameters = ruleOf(optimizer).needsWholeParameters};
}

bool isBatchNorm(const Node& node) { return node.operation->traits.batchNorm; }

}  // namespace

std::vector<int64_t> ownShares(const ReplicaSetOptions& options) {
  if (options.shares.empty() || options.servesAlone) return {};
  const auto first = options.shares.begin() + options.firstReplica;
  return {first, first + std::ssize(options.devices)};
}

uint64_t dropoutSeedOf(uint64_t seed, int replica) {
  return seed + dropoutSeedStep * static_cast<uint64_t>(replica + 1);
}

int64_t totalReplicas(const ReplicaSetOptions& options) {
  const auto here = static_cast<int64_t>(options.devices.size());
  return joinedPlace(0, static_cast<int>(here), options.world).size - here * options.servers.alone;
}

bool joinsStatistics(const ReplicaSetOptions& options) {
  return options.syncBatchNorm && !options.forwardOnly && totalReplicas(options) > 1 &&
         std::ranges::any_of(options.graph->nodes(), isBatchNorm);
}

std::optional<double> meanShare(const ReplicaSetOptions& options) {
  if (options.shares.empty()) return std::nullopt;
  const auto images = std::accumulate(options.shares.begin(), options.shares.end(), int64_t{0});
  return static_cast<double>(images) / static_cast<double>(options.shares.size());
}

ReplicaSet::ReplicaSet(ReplicaSetOptions options)
    : options_(std::move(options)),
      monitor_(std::make_unique<Monitor>(options_.blockingWaits)),
      barrier_(std::make_unique<Barrier>(*monitor_, static_cast<int>(options_.devices.size()))),
      strategy_(options_.strategy->make(strategyContext(options_, *monitor_))),
      feed_(options_.lossPlacement->makeFeed({pointers(options_.devices), monitor_.get(), ownShares(options_)})),
      outputs_(options_.lossPlacement->makeOutputs({pointers(options_.devices),
                                                    monitor_.get(),
                                                    &lossOf(*options_.graph),
                                                    options_.labelSmoothing,
                                                    {options_.classWeights, options_.targetThreshold}})) {
  allowTf32(options_.precision->tf32);
  if (joinsStatistics(options_)) statistics_ = joinStatistics(strategyContext(options_, *monitor_));
}

ReplicaSet::~ReplicaSet() = default;

StrategyTraffic ReplicaSet::traffic() const {
  StrategyTraffic traffic = strategy_->traffic();
  if (statistics_.empty()) return traffic;
  std::vector<int64_t> channels;
  for (const Node& node : options_.graph->nodes()) {
    if (isBatchNorm(node)) channels.push_back(node.shape.channels);
  }
  return traffic += statisticsTraffic(strategyContext(options_, *monitor_), channels, options_.accumulate);
}
std::optional<Staleness> ReplicaSet::staleness() const { return strategy_->staleness(); }
std::string ReplicaSet::exchangeMemory() const { return strategy_->exchangeMemory(); }
std::string ReplicaSet::sums() const { return strategy_->sums(); }

// The failure is stored before the abort, because the abort makes all other replicas fail with PeerError.
void ReplicaSet::noteFailure(int index, std::exception_ptr failure, const std::string& text) noexcept {
  {
    const MutexLock lock(failureMutex_);
    if (!firstFailure_) firstFailure_ = std::move(failure);
  }
  monitor_->abort(concat("replica ", index, " failed: ", text));
}

void ReplicaSet::runReplica(int index, const std::function<void(Member&)>& body, std::latch& left) noexcept {
  std::unique_ptr<Member> member;
  std::optional<FlightLogging> logging;
  try {
    options_.devices[static_cast<size_t>(index)].bind();
    if (options_.keepsFlightLog) logging.emplace(index);
    const ReplicaShared shared{options_, *strategy_, *feed_, *outputs_, *monitor_, *barrier_, statistics_};
    member = options_.servesAlone ? makeServingReplica(index, shared) : makeReplica(index, shared);
    body(*member);
    member->synchronize();
  } catch (const std::exception& failure) {
    noteFailure(index, std::current_exception(), failure.what());
  } catch (...) {
    noteFailure(index, std::current_exception(), "unknown exception");
  }
  left.arrive_and_wait();  // another replica may still read this one's memory, so nobody frees any before all are here
}

void ReplicaSet::run(const std::function<void(Member&)>& body) {
  std::latch left(std::ssize(options_.devices));
  std::vector<std::jthread> threads;
  const auto replicas = std::ssize(options_.devices);
  try {
    for (int i = 0; i < replicas; ++i) {
      threads.emplace_back([this, i, &body, &left] { runReplica(i, body, left); });
    }
  } catch (const std::system_error& refused) {
    noteFailure(static_cast<int>(std::ssize(threads)), std::current_exception(), refused.what());
    left.count_down(replicas - std::ssize(threads));  // the others wait for those that have no thread
  }
  threads.clear();  // joins
  const MutexLock lock(failureMutex_);
  if (firstFailure_) std::rethrow_exception(firstFailure_);
}

}  // namespace tandem

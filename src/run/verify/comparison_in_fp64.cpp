#include "run/verify/comparison_in_fp64.h"

#include <algorithm>
#include <cmath>
#include <future>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/text.h"
#include "comm/world.h"
#include "executor/aten_ops.h"
#include "graph/operation.h"
#include "run/verify/reference_training.h"
#include "run/verify/weights_change.h"
#include "train/captured_step.h"
#include "train/weight_init.h"

namespace tandem {
namespace {

constexpr Precision fp64{"fp64", "the reference", at::kDouble, at::kDouble, at::kDouble, false};
constexpr int64_t eagerComparedSteps = 2;
constexpr double firstLossScale = 1024;  // far below the usual 65536, at which first steps often overflow

std::vector<const Precision*> plainPrecisions(const Precision& own) {
  const auto plain =
      std::ranges::find_if(precisions(), [](const Precision& row) { return row.compute == at::kFloat && !row.tf32; });
  if (plain->name == own.name) return {&*plain};
  return {&*plain, &own};
}

struct Course {
  HostWeights start, end;
};

/// The steps by ReferenceTraining. A thread of its own computes, because bind() pins it.
Course plainly(const ComparedTeam& team, const Precision& precision) {
  const auto train = [&] {
    team.device.bind();
    ReferenceTraining reference(team.options, precision, team.device.torch());
    Course course{weightsOf(*team.options.graph, reference.buffers()), {}};
    for (int64_t step = 0; step < comparedSteps(team.options); ++step) {
      const int64_t number = team.source.repeats ? 0 : step;
      reference.step({team.batches->make(number), team.batches->normalization(), team.mixing, number});
    }
    course.end = weightsOf(*team.options.graph, reference.buffers());
    return course;
  };
  return std::async(std::launch::async, train).get();
}

/// What replicas have after some steps.
struct Trained {
  std::vector<HostWeights> weights;         // of the replicas of this process; equal ones are there once
  std::vector<std::string> fingerprints{};  // of these
  int64_t skipped = 0;                      // steps without an update
};

Trained train(const ReplicaSetOptions& options, int64_t steps) {
  Mutex mutex;
  Trained trained;
  ReplicaSet(options).run([&](ReplicaSet::Member& member) {
    for (int64_t step = 0; step < steps; ++step) member.step();
    member.finish();
    if (options.servesAlone) return;
    const auto scale = member.lossScale();
    const MutexLock lock(mutex);
    if (scale) trained.skipped = std::max(trained.skipped, scale->skipped);
    HostWeights own = weightsOf(*options.graph, member.buffers());
    const auto same = [&](const HostWeights& other) { return bitEqual(own, other); };
    if (std::ranges::any_of(trained.weights, same)) return;
    trained.weights.push_back(std::move(own));
    trained.fingerprints.push_back(concat(weightsFingerprint(*options.graph, member.buffers())));
  });
  return trained;
}

/// Throws InternalError unless the replicas of all ranks have the same weights, so that rank 0's are those of all.
void requireEqualRanks(World& world, const Trained& trained) {
  const auto said = world.exchange(join(trained.fingerprints));  // one that only serves has none
  const auto agrees = [&](const std::string& text) { return text.empty() || text == said[0]; };
  if (trained.weights.size() <= 1 && std::ranges::all_of(said, agrees)) return;
  throw InternalError(concat("ranks ended the same steps with different weights: fingerprints ", join(said, "; ")));
}

/// The first row that runs on the device; a single replica sums nothing by it.
const AllReduceEntry& anyAllReduce(const Device& device) {
  return *std::ranges::find(allReduces(), true, device.isCpu() ? &AllReduceEntry::onCpu : &AllReduceEntry::onCuda);
}

bool draws(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) { return drawsNumbers(node.operation->name); });
}

/// One replica that computes the shares of all, one after the other, or with joined statistics as one batch.
ReplicaSetOptions oneReplica(const ComparedTeam& team) {
  ReplicaSetOptions one = team.options;
  if (!joinsStatistics(team.options)) one.accumulate *= totalReplicas(team.options);
  one.world = nullptr, one.servers = {};
  one.devices.erase(one.devices.begin() + 1, one.devices.end());
  one.strategy = &*std::ranges::find(strategies(), Exchange::synchronous, &StrategyEntry::exchange);
  one.allReduce = &anyAllReduce(one.devices.front());
  one.lossPlacement = &*std::ranges::find(lossPlacements(), false, &LossPlacementEntry::gathered);
  one.recorder = nullptr;
  one.source = [&team](int) {
    const ReplicaSetOptions& all = team.options;
    return team.source.make({.batches = team.batches,
                             .form = {.device = &all.devices.front(),
                                      .type = all.precision->compute,
                                      .format = all.kernels.layout.format,
                                      .zeroChannels = all.kernels.zeroChannels},
                             .mixing = team.mixing,
                             .hardwareThreads = {}});
  };
  return one;
}

/// Fills the errors of the team, of the replica that is furthest.
void compareReplicas(const ComparedTeam& team, const Trained& trained, const Course& exact, EqualityStamp& stamp) {
  const Graph& graph = *team.options.graph;
  const bool several = comparesReplicas(team.options);
  const HostWeights one = several ? train(oneReplica(team), stamp.steps).weights.front() : HostWeights();
  stamp.bitEqual = several;
  for (const HostWeights& own : trained.weights) {
    const ChangeError error = changeError(graph, own, exact.end, exact.start);
    stamp.error.whole = std::max(stamp.error.whole, error.whole);
    if (stamp.error.where.empty() || error.worst > stamp.error.worst) {
      stamp.error.worst = error.worst, stamp.error.where = error.where;
    }
    if (!several) continue;
    stamp.bitEqual = stamp.bitEqual && bitEqual(own, one);
    const double apart = changeError(graph, own, one, exact.start).whole;
    stamp.differenceOfReplicas = std::max(stamp.differenceOfReplicas, apart);
  }
}

EqualityStamp notCompared(std::string reason) { return {.reason = std::move(reason)}; }

}  // namespace

int64_t comparedSteps(const ReplicaSetOptions& team) {
  return team.recorder ? CapturedStep::eagerSteps + 2 : eagerComparedSteps;
}

bool comparesReplicas(const ReplicaSetOptions& team) {
  // A part of a joined batch is a part of each share, not one stretch of the batch.
  const bool inOrder = team.accumulate == 1 || !joinsStatistics(team);
  return totalReplicas(team) > 1 && team.shares.empty() && inOrder && !draws(*team.graph);
}

EqualityStamp compareInFp64(const ComparedTeam& given) {
  const Nanos begin = now();
  ReplicaSetOptions options = given.options;
  if (joinsStatistics(options) && draws(*options.graph)) {
    return notCompared("with --sync-batch-norm the reference has one replica, which draws other numbers for dropout");
  }
  options.lossScale.initial = firstLossScale;
  const ComparedTeam team{options, given.batches, given.source, given.mixing, given.device};
  EqualityStamp stamp{.steps = comparedSteps(team.options)};
  const Trained trained = train(team.options, stamp.steps);
  if (options.world != nullptr) requireEqualRanks(*options.world, trained);
  if (!isFirst(options.world)) return notCompared("rank 0 compares for all");
  if (trained.skipped > 0) {
    return notCompared(
        concat(trained.skipped, " of ", stamp.steps, " steps updated nothing: their gradients overflowed"));
  }
  const Course exact = plainly(team, fp64);
  const double change = changeNorm(exact.end, exact.start);
  if (!std::isfinite(change) || change <= 0) {
    return notCompared(concat("the reference's weights changed by ", change, " in ", stamp.steps, " steps"));
  }
  for (const Precision* precision : plainPrecisions(*team.options.precision)) {
    const HostWeights end = plainly(team, *precision).end;
    stamp.plain.push_back(
        {std::string(precision->name), changeError(*team.options.graph, end, exact.end, exact.start)});
  }
  compareReplicas(team, trained, exact, stamp);
  stamp.seconds = seconds(now() - begin);
  return stamp;
}

}  // namespace tandem

#include "run/verify/comparison_in_fp64.h"

#include <algorithm>
#include <cmath>
#include <future>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/text.h"
#include "executor/aten_ops.h"
#include "graph/operation.h"
#include "run/verify/reference_training.h"
#include "run/verify/weights_change.h"
#include "train/captured_step.h"

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
      reference.step(team.batches->make(team.source.repeats ? 0 : step), team.batches->dataset().info().normalization);
    }
    course.end = weightsOf(*team.options.graph, reference.buffers());
    return course;
  };
  return std::async(std::launch::async, train).get();
}

/// Runs the steps and gives each replica to `atEnd`, on its thread. Returns how many steps were skipped.
int64_t train(const ReplicaSetOptions& options, int64_t steps, const std::function<void(ReplicaSet::Member&)>& atEnd) {
  Mutex mutex;
  int64_t skipped = 0;
  ReplicaSet(options).run([&](ReplicaSet::Member& member) {
    for (int64_t step = 0; step < steps; ++step) member.step();
    member.finish();
    const auto scale = member.lossScale();
    const MutexLock lock(mutex);
    if (scale) skipped = std::max(skipped, scale->skipped);
    atEnd(member);
  });
  return skipped;
}

/// The first row that runs on the device; a single replica sums nothing by it.
const AllReduceEntry& anyAllReduce(const Device& device) {
  return *std::ranges::find(allReduces(), true, device.isCpu() ? &AllReduceEntry::onCpu : &AllReduceEntry::onCuda);
}

/// One replica that computes the shares of all, one after the other.
ReplicaSetOptions oneReplica(const ComparedTeam& team) {
  ReplicaSetOptions one = team.options;
  one.accumulate *= std::ssize(one.devices);
  one.devices.erase(one.devices.begin() + 1, one.devices.end());
  one.strategy = &*std::ranges::find(strategies(), Exchange::synchronous, &StrategyEntry::exchange);
  one.allReduce = &anyAllReduce(one.devices.front());
  one.lossPlacement = &*std::ranges::find(lossPlacements(), false, &LossPlacementEntry::gathered);
  one.recorder = nullptr;
  one.source = [&team](int) {
    const ReplicaSetOptions& all = team.options;
    return team.source.make({.maker = team.batches,
                             .form = {.device = &all.devices.front(),
                                      .type = all.precision->compute,
                                      .format = all.kernels.layout.format,
                                      .zeroChannels = all.kernels.zeroChannels},
                             .hardwareThreads = {}});
  };
  return one;
}

HostWeights weightsOfOneReplica(const ComparedTeam& team) {
  HostWeights weights;
  train(oneReplica(team), comparedSteps(team.options),
        [&](ReplicaSet::Member& member) { weights = weightsOf(*team.options.graph, member.buffers()); });
  return weights;
}

/// Fills the errors of the team, of the replica that is furthest. Returns how many steps were skipped.
int64_t compareReplicas(const ComparedTeam& team, const Course& exact, EqualityStamp& stamp) {
  const Graph& graph = *team.options.graph;
  const bool several = comparesReplicas(team.options);
  const HostWeights one = several ? weightsOfOneReplica(team) : HostWeights();
  stamp.bitEqual = several;
  return train(team.options, stamp.steps, [&](ReplicaSet::Member& member) {
    const HostWeights own = weightsOf(graph, member.buffers());
    const ChangeError error = changeError(graph, own, exact.end, exact.start);
    stamp.error.whole = std::max(stamp.error.whole, error.whole);
    if (stamp.error.where.empty() || error.worst > stamp.error.worst) {
      stamp.error.worst = error.worst, stamp.error.where = error.where;
    }
    if (!several) return;
    stamp.bitEqual = stamp.bitEqual && bitEqual(own, one);
    const double apart = changeError(graph, own, one, exact.start).whole;
    stamp.differenceOfReplicas = std::max(stamp.differenceOfReplicas, apart);
  });
}

EqualityStamp notCompared(std::string reason) { return {.reason = std::move(reason)}; }

}  // namespace

int64_t comparedSteps(const ReplicaSetOptions& team) {
  return team.recorder ? CapturedStep::eagerSteps + 2 : eagerComparedSteps;
}

bool comparesReplicas(const ReplicaSetOptions& team) {
  return team.devices.size() > 1 &&
         std::ranges::none_of(team.graph->nodes(), [](const Node& node) { return drawsNumbers(node.operation->name); });
}

EqualityStamp compareInFp64(const ComparedTeam& given) {
  const Nanos begin = now();
  ReplicaSetOptions options = given.options;
  options.lossScale.initial = firstLossScale;
  const ComparedTeam team{options, given.batches, given.source, given.device};
  EqualityStamp stamp{.steps = comparedSteps(team.options)};
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
  const int64_t skipped = compareReplicas(team, exact, stamp);
  if (skipped > 0) {
    return notCompared(concat(skipped, " of ", stamp.steps, " steps updated nothing: their gradients overflowed"));
  }
  stamp.seconds = seconds(now() - begin);
  return stamp;
}

}  // namespace tandem

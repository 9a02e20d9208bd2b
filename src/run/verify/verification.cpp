#include "run/verify/verification.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "comm/world.h"
#include "config/option.h"
#include "config/repeats.h"
#include "graph/operation.h"
#include "run/outcome_of_exception.h"
#include "run/plan/device_assignment.h"
#include "run/plan/replica_set_options.h"
#include "run/verify/comparison_in_fp64.h"

namespace tandem {
namespace {

// Times of one step of ReferenceTraining, in measured steps of the point.
constexpr double fp64Steps = 18, fp32Steps = 4, stepsOf16Bits = 2;  // the last: more, if the point's have 16 bits

/// The device of the references: on a CPU the cores of all replicas of this host.
Device referenceDevice(const MeasuredPoint& point) {
  if (!point.plan.setup.onCpu()) return point.team.devices.front();
  std::set<int> threads;
  for (const std::vector<int>& of : point.plan.hostCores.threadsOf) threads.insert(of.begin(), of.end());
  const auto count = std::max<int64_t>(point.plan.cores.threadsPerReplica, std::ssize(threads));
  return Device::cpu(0, {threads.begin(), threads.end()}, count);
}

/// Elements of the largest input of a convolution with its kernel's pixels gathered, as ATen lays them out in fp64.
int64_t largestColumns(const Graph& graph) {
  int64_t largest = 0;
  for (const Node& node : graph.nodes()) {
    if (!node.operation->traits.convolution) continue;
    const Attributes& a = node.attributes;
    const int64_t window = graph.inputShapes(node).front().channels * a.kernelH * a.kernelW;
    largest = std::max(largest, window * node.shape.height * node.shape.width);
  }
  return largest;
}

std::string costReason(const MeasuredPoint& point) {
  if (point.plan.setup.verify->required) return "";
  const auto runs = static_cast<double>(fewestRepeats(repeatsOf(point.plan.config)));
  if (expectedVerifySeconds(point) <= largestVerifyShare * runs * point.runSeconds) return "";
  return concat("it would take more than ", 100 * largestVerifyShare,
                " % of the time of the point's repeats; --verify=on compares all the same");
}

std::string memoryReason(const MeasuredPoint& point, int64_t availableBytes) {
  const int64_t needed = verifyBytes(point), most = memoryToUse(availableBytes);
  if (needed <= most) return "";
  return concat("the fp64 reference needs about ", bytesText(static_cast<double>(needed)), " of memory, ",
                bytesText(static_cast<double>(most)), " can be used; lower --batch or raise --accumulate");
}

// A rank that only serves has no data.
EqualityStamp compared(const MeasuredPoint& point) try {
  ReplicaSetOptions team = point.team;
  RunPlan plan = point.plan;
  if (plan.setup.source->stream != nullptr) {  // whose batches come once
    plan.setup.source = &repeatingSource();
    team.source = trainingOptions(plan, team.kernels, point.data).source;
  }
  return compareInFp64({.options = std::move(team),
                        .batches = point.data.images ? joinedBatches(plan, point.data) : nullptr,
                        .source = *plan.setup.source,
                        .mixing = mixingOf(plan),
                        .device = referenceDevice(point)});
} catch (const std::exception& failure) {
  return {.reason = concat("the comparison failed: ", outcomeOf(failure, point.plan.config).reason)};
}

}  // namespace

double expectedVerifySeconds(const MeasuredPoint& point) {
  const bool wide = point.team.precision->compute == at::kFloat;
  const auto replicas = static_cast<double>(totalReplicas(point.team));
  const double own = 1 + (comparesReplicas(point.team) ? replicas : 0);
  const double references = wide ? fp64Steps + fp32Steps : stepsOf16Bits * (fp64Steps + 2 * fp32Steps);
  const double hosts = static_cast<double>(point.plan.place.size) / point.plan.place.localSize;
  return static_cast<double>(comparedSteps(point.team)) * point.stepSeconds * (own + hosts * references);
}

int64_t verifyBytes(const MeasuredPoint& point) {
  constexpr int64_t fp64Bytes = sizeof(double), fp64Copies = 6;  // weights, gradients, sums, and three snapshots
  const Graph& graph = *point.team.graph;
  const int64_t state = stateValues(point.team.optimizer);
  const int64_t images = point.plan.replicaBatch / point.team.accumulate;
  const int64_t ofImage = activationCount(graph) + largestColumns(graph);
  return fp64Bytes * (images * ofImage + point.plan.parameters * (fp64Copies + state));
}

std::string whyNotVerified(const MeasuredPoint& point, int64_t availableBytes) {
  if (point.team.forwardOnly) return concat(optionWithoutTraining(point.plan.config.step), " trains nothing");
  const Exchange exchange = exchangeOf(*point.team.strategy, *point.team.precision);
  if (exchange == Exchange::none && totalReplicas(point.team) > 1) {
    return "replicas that exchange nothing train no common network";
  }
  if (exchange == Exchange::stale || exchange == Exchange::lossy) {
    const bool byStrategy = exchange == point.team.strategy->exchange;
    return concat(byStrategy ? "--strategy=" : "--gradient-precision=",
                  byStrategy ? optionsText(*point.team.strategy)
                             : std::string(gradientPrecisionOf(point.team.precision->wire).name),
                  " makes other updates than one replica, by design");
  }
  const std::string cost = costReason(point);
  return cost.empty() ? memoryReason(point, availableBytes) : cost;
}

std::optional<EqualityStamp> verified(const MeasuredPoint& point) {
  if (!point.plan.setup.verify->wanted) return std::nullopt;
  for (const Device& device : point.team.devices) {
    if (!device.isCpu()) device.forgetMemory();
  }
  World* const world = point.plan.world;
  EqualityStamp stamp{.reason = whyNotVerified(point, availableBytesNow(point.plan))};
  if (world != nullptr) stamp.reason = world->fromFirst(stamp.reason);
  if (stamp.compared()) stamp = compared(point);
  stamp.expectedSeconds = expectedVerifySeconds(point);
  allowTf32(point.team.precision->tf32);
  return stamp;
}

EqualityStamp unfinishedStamp() {
  return {.reason = "the process ended before the comparison was done; raise --point-deadline or give it more memory"};
}

}  // namespace tandem

#include "measure/record/record_checks.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

/// Checks that every exchange has a value for every replica and at least one step.
void checkExchanges(const Profile& profile) {
  const size_t replicas = profile.replicas.size();
  for (size_t i = 0; i < profile.exchanges.size(); ++i) {
    const ExchangeArrivals& exchange = profile.exchanges[i];
    const bool any = std::ranges::any_of(exchange.last, [](int64_t steps) { return steps > 0; });
    if (any && exchange.after.size() == replicas && exchange.last.size() == replicas) continue;
    throw DataError(concat("profile.exchanges[", i, "]: after_ns and last must tell of ", replicas,
                           " replicas and of a step or more; they tell of ", exchange.after.size(), " and ",
                           exchange.last.size(), any ? "" : ", of no step"));
  }
}

/// Checks that a stamp with errors has those of plain ATen too.
void checkEquality(const EqualityStamp& stamp) {
  if (!stamp.compared() || !stamp.plain.empty()) return;
  throw DataError("equality: without a reason there must be errors of plain ATen, and there are none");
}

/// Checks the divisors: the number and the time of a device's steps.
void checkDevices(const DeviceProfile& profile) {
  for (size_t i = 0; i < profile.devices.size(); ++i) {
    const GpuTimeline& of = profile.devices[i];
    if (of.steps > 0 && of.wall > Nanos{} && of.busy <= of.wall) continue;
    throw DataError(concat("profile.device.devices[", i,
                           "]: there must be a step or more, and busy_ns at most wall_ns, ",
                           "which is above 0; there are ", of.steps, ", ", of.busy.count(), " and ", of.wall.count()));
  }
}

/// Checks the divisors: the number and the time of the hosts' steps. Each call is a pass of one operation.
void checkHost(const HostTimeline& host) {
  const bool whole = std::ranges::all_of(host.calls, [](const WorkGroup& call) { return call.operations.size() == 1; });
  if (host.steps > 0 && host.wall > Nanos{} && whole) return;
  throw DataError(concat("profile.host: there must be a step or more, wall_ns above 0, and one of operations to each ",
                         "call; there are ", host.steps, " steps and ", host.wall.count(), " ns",
                         whole ? "" : ", and a call with none or several"));
}

/// Checks the images by which epochs are counted, and that no time is below 0.
void checkCourse(const TrainingRecord& training) {
  const bool counts = training.images > 0 && training.steps >= 0 && training.resumedAt <= training.steps;
  if (!counts) {
    throw DataError(concat("training: images must be above 0, steps not below 0 nor below resumed_at; they are ",
                           training.images, ", ", training.steps, " and ", training.resumedAt));
  }
  for (size_t i = 0; i < training.course.size(); ++i) {
    const EpochRecord& epoch = training.course[i];
    const Nanos least = std::min({epoch.training, epoch.evaluating, epoch.saving, epoch.idle});
    if (least >= Nanos{} && epoch.step >= 0 && epoch.step <= training.steps) continue;
    throw DataError(concat("training.course[", i, "]: step must be from 0 to steps, ", training.steps,
                           ", and times not below 0; they are ", epoch.step, " and, the least, ", least.count(),
                           " ns"));
  }
}

/// Checks the divisor, and that a confusion matrix is square and counts images.
void checkEvaluation(const EvaluationRecord& evaluation, const std::string& where) {
  if (evaluation.images <= 0 || evaluation.at < Nanos{} || evaluation.wall < Nanos{}) {
    throw DataError(concat(where, ": images must be above 0, and times not below 0; they are ", evaluation.images, ", ",
                           evaluation.at.count(), " and ", evaluation.wall.count(), " ns"));
  }
  const std::vector<int64_t>& confusion = evaluation.confusion;
  const auto classes = static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(confusion.size()))));
  const bool isMatrix = classes * classes == confusion.size();
  if (isMatrix && std::ranges::all_of(confusion, [](int64_t images) { return images >= 0; })) return;
  throw DataError(concat(where, ".confusion must be as many rows as columns of numbers not below 0; it has ",
                         confusion.size(), " entries", isMatrix ? ", and one below 0" : ""));
}

/// Checks that each says what was taken for what.
void checkWrong(const std::vector<WrongPrediction>& wrong, const std::string& where) {
  for (size_t i = 0; i < wrong.size(); ++i) {
    const auto [least, most] = std::minmax(wrong[i].label, wrong[i].predicted);
    if (least >= WrongPrediction::none && most >= 0) continue;
    throw DataError(
        concat(where, ".wrong[", i, "]: label and predicted must be classes, from 0, and one at most null"));
  }
}

void checkTraining(const TrainingRecord& training) {
  checkCourse(training);
  for (size_t i = 0; i < training.evaluations.size(); ++i) {
    const std::string where = concat("training.evaluations[", i, "]");
    checkEvaluation(training.evaluations[i], where);
    checkWrong(training.evaluations[i].wrong, where);
  }
}

}  // namespace

void checkParts(const RunRecord& record) {
  if (record.equality) checkEquality(*record.equality);
  if (record.training) checkTraining(*record.training);
  if (record.profile) checkExchanges(*record.profile);
  if (record.profile && record.profile->device) checkDevices(*record.profile->device);
  if (record.profile && record.profile->host) checkHost(*record.profile->host);
}

}  // namespace tandem

#include "measure/profile/attribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/statistics.h"

namespace tandem {
namespace {

constexpr size_t fewestSteps = 20;
constexpr double clearlyMoreOften = 1.5;  // times as often as by chance
constexpr double least = 0.5;             // share of the steps
constexpr double noticeable = 0.01;       // share of a step

/// Arrival times of each step that all replicas have.
std::vector<std::vector<double>> arrivalsOf(const Profile& profile) {
  std::map<int64_t, std::vector<double>> ofStep;
  for (const ReplicaProfile& replica : profile.replicas) {
    for (const StepParts& step : replica.steps) {
      if (step.arrival) ofStep[step.step].push_back(seconds(*step.arrival));
    }
  }
  std::vector<std::vector<double>> arrivals;
  for (auto& [step, ofReplicas] : ofStep) {
    if (ofReplicas.size() == profile.replicas.size()) arrivals.push_back(std::move(ofReplicas));
  }
  return arrivals;
}

double lead(std::vector<double> arrivals, size_t replica) {
  const double own = arrivals[replica];
  arrivals.erase(arrivals.begin() + static_cast<std::ptrdiff_t>(replica));
  return own - median(arrivals).value_or(own);
}

constexpr std::array computeParts{&StepParts::forward, &StepParts::loss, &StepParts::backward};
constexpr std::array inputParts{&StepParts::input, &StepParts::hostToDevice};
constexpr std::array exchangeParts{&StepParts::exchange, &StepParts::hiddenExchange};

/// Sum of the times in a step: median over the steps, mean over the replicas.
double typicalSeconds(const Profile& profile, std::span<Nanos StepParts::*const> times) {
  std::vector<double> medians;
  for (const ReplicaProfile& replica : profile.replicas) {
    std::vector<double> sums;
    for (const StepParts& step : replica.steps) {
      Nanos sum{};
      for (const auto time : times) sum += step.*time;
      sums.push_back(seconds(sum));
    }
    if (const auto middle = median(sums)) medians.push_back(*middle);
  }
  return mean(medians).value_or(0);
}

/// Empty without steps, and where a captured step hides its parts.
std::optional<Achieved> achievedCompute(const RunRecord& record) {
  if (!record.profile || record.placement.replicas.empty()) return std::nullopt;
  const Profile& profile = *record.profile;
  if (!shareOf(profile.replicas, &StepParts::wall) || isCaptured(profile)) return std::nullopt;
  const double images = static_cast<double>(record.globalBatch) / static_cast<double>(record.placement.replicas.size());
  return Achieved{"compute", "FLOP", record.placement.flopsPerImage * images, typicalSeconds(profile, computeParts),
                  peaksOfReplica(record).flops};
}

}  // namespace

std::optional<double> medianSeconds(const ReplicaProfile& replica, Nanos StepParts::*time) {
  std::vector<double> values;
  for (const StepParts& step : replica.steps) values.push_back(seconds(step.*time));
  return median(values);
}

std::optional<double> shareOf(std::span<const ReplicaProfile> replicas, Nanos StepParts::*time) {
  Nanos part{}, whole{};
  for (const ReplicaProfile& replica : replicas) {
    for (const StepParts& step : replica.steps) part += step.*time, whole += step.wall;
  }
  if (whole <= Nanos{}) return std::nullopt;
  return seconds(part) / seconds(whole);
}

bool isCaptured(const Profile& profile) { return shareOf(profile.replicas, &StepParts::launch).value_or(0) > 0; }

std::optional<LastToArrive> lastToArrive(const RunRecord& record) {
  if (!record.profile || record.placement.control || record.profile->replicas.size() < 2) return std::nullopt;
  const auto arrivals = arrivalsOf(*record.profile);
  const size_t replicas = record.profile->replicas.size();
  if (arrivals.empty()) return std::nullopt;
  std::vector<double> times(replicas, 0);
  for (const auto& step : arrivals) ++times[static_cast<size_t>(std::ranges::max_element(step) - step.begin())];
  const auto most = static_cast<size_t>(std::ranges::max_element(times) - times.begin());
  std::vector<double> leads;
  for (const auto& step : arrivals) leads.push_back(lead(step, most));
  LastToArrive last{.replica = static_cast<int>(most), .steps = arrivals.size()};
  last.share = times[most] / static_cast<double>(last.steps);
  last.leadSeconds = *median(leads);
  const double chance = 1 / static_cast<double>(replicas);
  const auto step = medianSeconds(record.profile->replicas[most], &StepParts::wall);
  last.straggler = last.steps >= fewestSteps && last.share >= std::max(least, clearlyMoreOften * chance) &&
                   last.leadSeconds >= noticeable * step.value_or(0) &&
                   last.leadSeconds > seconds(record.profile->clockError);
  return last;
}

std::vector<PartChange> partChanges(const Profile& before, const Profile& after) {
  std::vector<PartChange> all;
  for (size_t replica = 0; replica < std::min(before.replicas.size(), after.replicas.size()); ++replica) {
    for (const Part& part : stepParts()) {
      const auto a = medianSeconds(before.replicas[replica], part.time);
      const auto b = medianSeconds(after.replicas[replica], part.time);
      if (a && b) all.push_back({&part, static_cast<int>(replica), *a, *b});
    }
  }
  std::ranges::stable_sort(all, [](const PartChange& x, const PartChange& y) {
    if (x.part->follows != y.part->follows) return y.part->follows;
    return std::abs(x.growth()) > std::abs(y.growth());
  });
  return all;
}

ReplicaPeaks peaksOfReplica(const RunRecord& record) {
  const auto replicas = static_cast<double>(std::max<size_t>(record.placement.replicas.size(), 1));
  return {record.flopsPeak / replicas, record.bytesPeak / replicas};
}

std::vector<Achieved> achievedWork(const RunRecord& record) {
  if (!record.profile || record.profile->replicas.empty() || record.placement.replicas.empty()) return {};
  const Profile& profile = *record.profile;
  const double bytes = peaksOfReplica(record).bytes;
  std::vector<Achieved> all;
  if (const auto compute = achievedCompute(record)) all.push_back(*compute);
  all.push_back({"input", "B", static_cast<double>(profile.inputBytes), typicalSeconds(profile, inputParts), bytes});
  if (!isCaptured(profile) || !arrivalsOf(profile).empty()) {
    all.push_back(
        {"gradients received", "B", record.traffic.bytesPerStep, typicalSeconds(profile, exchangeParts), bytes});
  }
  return all;
}

std::vector<Headroom> headroomOf(const RunRecord& record) {
  const auto compute = achievedCompute(record);
  if (!compute || record.profile->device) return {};
  const auto& replicas = record.profile->replicas;
  const auto factor = [](double saved) { return 1 / std::max(1 - saved, noticeable); };
  std::vector<Headroom> all;
  double computing = 0;  // share of the step
  for (const Part& part : stepParts()) {
    const double share = shareOf(replicas, part.time).value_or(0);
    if (std::ranges::find(computeParts, part.time) != computeParts.end()) {
      computing += share;
    } else {
      all.push_back({part.heading, factor(share)});
    }
  }
  const auto rate = compute->amount > 0 ? compute->rate() : std::nullopt;
  if (rate && *rate < compute->peak) {
    const double ofPeak = *rate / compute->peak;
    all.push_back({compute->name, factor(computing * (1 - ofPeak)), ofPeak});
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &Headroom::factor);
  return all;
}

}  // namespace tandem

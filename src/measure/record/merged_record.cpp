#include "measure/record/merged_record.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

/// Appends those that are not there yet.
void append(std::vector<std::string>& texts, const std::vector<std::string>& more) {
  for (const std::string& text : more) {
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  }
}

/// What is known of either counts: NaN is unknown.
void join(Interference& all, const Interference& rank) {
  for (const auto& [name, value] : rank.signs) {
    const auto [known, isNew] = all.signs.emplace(name, value);
    if (!isNew) known->second = std::fmax(known->second, value);
  }
  append(all.reasons, rank.reasons);
}

HostRecord hostOf(const RunRecord& rank) {
  return {.environment = rank.environment,
          .replicas = 0,
          .peakMemoryBytes = 0,
          .flopsPeak = rank.flopsPeak,
          .bytesPeak = rank.bytesPeak,
          .energyJoules = rank.energyJoules,
          .interference = {},
          .telemetry = rank.telemetry};
}

/// Adds a rank to its host, unless that is rank 0's.
void joinHost(RunRecord& all, const RunRecord& rank) {
  const std::string& name = rank.environment.host;
  if (name == all.environment.host) return;
  const auto known =
      std::ranges::find_if(all.otherHosts, [&](const HostRecord& host) { return host.environment.host == name; });
  HostRecord& host = known != all.otherHosts.end() ? *known : all.otherHosts.emplace_back(hostOf(rank));
  host.replicas += std::ssize(rank.placement.replicas);
  host.peakMemoryBytes += rank.peakMemoryBytes;
  join(host.interference, rank.interference);
}

/// Says at what a rank did on which host it did so.
void nameHost(RunRecord& rank) {
  for (std::string& place : rank.placement.replicas) place += " on " + rank.environment.host;
  for (std::string& reason : rank.interference.reasons) reason = concat(rank.environment.host, ": ", reason);
}

/// Of all servers. Each has made all updates, of its own variables.
std::optional<StalenessRecord> stalenessOf(const std::vector<RunRecord>& ranks) {
  StalenessRecord all;
  double lacked = 0, made = 0;
  for (const RunRecord& rank : ranks) {
    if (!rank.staleness) continue;
    const auto updates = static_cast<double>(rank.staleness->updates);
    lacked += rank.staleness->mean * updates;
    made += updates;
    all.updates = std::max(all.updates, rank.staleness->updates);
    all.most = std::max(all.most, rank.staleness->most);
  }
  if (all.updates == 0) return std::nullopt;
  all.mean = lacked / made;
  return all;
}

/// Whether a rank has replicas; else it only served.
bool trains(const RunRecord& rank) { return !rank.placement.replicas.empty(); }

/// What its replicas did, of a rank that trains.
void joinTraining(RunRecord& all, const RunRecord& rank) {
  const auto first = static_cast<int>(all.placement.replicas.size());
  for (StepSample sample : rank.steps) {
    sample.replica += first;
    all.steps.push_back(sample);
  }
  const auto& places = rank.placement.replicas;
  all.placement.replicas.insert(all.placement.replicas.end(), places.begin(), places.end());
  check(all.losses.size() == rank.losses.size(), "all ranks made the same steps");
  for (size_t i = 0; i < all.losses.size(); ++i) all.losses[i] += rank.losses[i];
  all.skippedSteps = std::max(all.skippedSteps, rank.skippedSteps);
  all.lossScale = std::min(all.lossScale, rank.lossScale);
}

void join(RunRecord& all, const RunRecord& rank) {
  joinHost(all, rank);
  if (trains(rank)) joinTraining(all, rank);
  all.startup = std::max(all.startup, rank.startup);
  all.window = std::max(all.window, rank.window);
  all.wall = std::max(all.wall, rank.wall);
  all.minorFaults += rank.minorFaults;
  all.peakMemoryBytes += rank.peakMemoryBytes;
  all.peakReservedBytes = std::max(all.peakReservedBytes, rank.peakReservedBytes);
  join(all.interference, rank.interference);
  append(all.notes, rank.notes);
}

}  // namespace

double sumOverHosts(const RunRecord& record, double ofFirst, double HostRecord::*quantity) {
  double sum = ofFirst;
  bool known = ofFirst > 0;
  for (const HostRecord& host : record.otherHosts) {
    sum += host.*quantity;
    known = known && host.*quantity > 0;
  }
  return known ? sum : 0;
}

RunRecord mergedRecord(std::vector<RunRecord> ranks) {
  const auto isElsewhere = [&](const RunRecord& rank) { return rank.environment.host != ranks[0].environment.host; };
  if (std::ranges::any_of(ranks, isElsewhere)) std::ranges::for_each(ranks, nameHost);
  const auto staleness = stalenessOf(ranks);
  const auto training = static_cast<double>(std::ranges::count_if(ranks, trains));
  RunRecord all = std::move(ranks.front());
  all.staleness = staleness;
  for (size_t rank = 1; rank < ranks.size(); ++rank) join(all, ranks[rank]);
  for (double& loss : all.losses) loss /= training;
  all.energyJoules = sumOverHosts(all, all.energyJoules, &HostRecord::energyJoules);
  return all;
}

}  // namespace tandem

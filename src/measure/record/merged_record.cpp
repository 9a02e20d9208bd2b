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

void join(RunRecord& all, const RunRecord& rank) {
  const auto first = static_cast<int>(all.placement.replicas.size());
  for (StepSample sample : rank.steps) {
    sample.replica += first;
    all.steps.push_back(sample);
  }
  const auto& places = rank.placement.replicas;
  all.placement.replicas.insert(all.placement.replicas.end(), places.begin(), places.end());
  check(all.losses.size() == rank.losses.size(), "all ranks made the same steps");
  for (size_t i = 0; i < all.losses.size(); ++i) all.losses[i] += rank.losses[i];
  all.startup = std::max(all.startup, rank.startup);
  all.window = std::max(all.window, rank.window);
  all.wall = std::max(all.wall, rank.wall);
  all.minorFaults += rank.minorFaults;
  all.peakMemoryBytes += rank.peakMemoryBytes;
  all.peakReservedBytes = std::max(all.peakReservedBytes, rank.peakReservedBytes);
  all.skippedSteps = std::max(all.skippedSteps, rank.skippedSteps);
  all.lossScale = std::min(all.lossScale, rank.lossScale);
  join(all.interference, rank.interference);
  append(all.notes, rank.notes);
}

}  // namespace

RunRecord mergedRecord(std::vector<RunRecord> ranks) {
  RunRecord all = std::move(ranks.front());
  for (size_t rank = 1; rank < ranks.size(); ++rank) join(all, ranks[rank]);
  for (double& loss : all.losses) loss /= static_cast<double>(ranks.size());
  return all;
}

}  // namespace tandem

#include "report/analysis/verdict.h"

#include <algorithm>

#include "base/text.h"
#include "config/command_line.h"
#include "measure/metrics/metric.h"
#include "measure/validity/consistency_checks.h"
#include "measure/validity/stationarity.h"
#include "report/tables/point_label.h"

namespace tandem {
namespace {

constexpr std::string_view failed = "failed", skipped = "skipped", notValid = "not valid", inDoubt = "in doubt",
                           notSteady = "not steady";

struct Contender {
  const RunRecord* record;
  size_t row;
  double rate;
  std::optional<double> low, high;
  std::string label;
};

std::vector<Contender> contendersOf(std::span<const RunRecord> records) {
  const auto differing = differingOptions(records);
  std::vector<Contender> contenders;
  for (size_t i = 0; i < records.size(); ++i) {
    const RunRecord& record = records[i];
    const auto valueOf = [&](std::string_view name) { return metric(name).of(record, nullptr); };
    const auto rate = valueOf("images_per_s");
    if (!rate || record.placement.control || !shortcoming(record).empty()) continue;
    contenders.push_back({&record, i + 1, *rate, valueOf("images_per_s_low"), valueOf("images_per_s_high"),
                          pointLabel(record, differing)});
  }
  std::ranges::stable_sort(contenders, std::ranges::greater{}, &Contender::rate);
  return contenders;
}

/// "2 not valid, 1 not steady (...)": finished runs that are not judged. Empty without any.
std::string leftOut(std::span<const ShortcomingCount> counts) {
  std::vector<std::string> parts;
  for (const auto& [name, runs] : counts) {
    if (name == failed || name == skipped || runs == 0) continue;
    parts.push_back(concat(runs, ' ', name, name == notSteady ? " (a larger --budget or --warmup helps)" : ""));
  }
  return join(parts);
}

std::string noneFinished(std::span<const ShortcomingCount> counts) {
  const auto runs = [&](std::string_view name) {
    return std::ranges::find(counts, name, &ShortcomingCount::name)->runs;
  };
  const std::string more = leftOut(counts);
  return concat("no point to judge: ", runs(failed), " failed, ", runs(skipped), " skipped",
                more.empty() ? "" : ", " + more);
}

std::string described(const Contender& contender) {
  return concat(contender.label, ", ", metricText("images_per_s", *contender.record, nullptr), " images/s",
                contender.record->profile ? " (a profile, no measurement of throughput)" : "");
}

std::string lead(const Contender& first, const Contender& second) {
  const std::string other = second.label == first.label ? concat("row ", second.row) : second.label;
  if (!first.low || !second.high) {
    return concat(fixed(100 * (first.rate / second.rate - 1), 1), " % ahead of ", other,
                  " (too few steps to tell this from noise)");
  }
  if (*first.low <= *second.high) {
    return concat("not distinguishable from ", other, ": the 95 % intervals overlap");
  }
  return concat(fixed(100 * (first.rate / second.rate - 1), 1), " % ahead of ", other);
}

}  // namespace

std::string_view shortcoming(const RunRecord& record) {
  if (record.outcome.kind == OutcomeKind::failed) return failed;
  if (record.outcome.kind == OutcomeKind::skipped) return skipped;
  if (!record.valid()) return notValid;
  if (!isQuotable(record)) return inDoubt;
  return notSteadyBecause(record).empty() ? "" : notSteady;
}

std::vector<ShortcomingCount> countShortcomings(std::span<const RunRecord> records) {
  std::vector<ShortcomingCount> counts{{failed}, {skipped}, {notValid}, {inDoubt}, {notSteady}};
  for (const RunRecord& record : records) {
    const auto count = std::ranges::find(counts, shortcoming(record), &ShortcomingCount::name);
    if (count != counts.end()) ++count->runs;
  }
  return counts;
}

Verdict verdictOn(std::span<const RunRecord> records) {
  const auto contenders = contendersOf(records);
  const auto counts = countShortcomings(records);
  if (contenders.empty()) return {noneFinished(counts), "", nullptr};
  const Contender& first = contenders.front();
  const std::string repeat = commandLine("bench", first.record->config);
  const std::string more = leftOut(counts), without = more.empty() ? "" : "; left out: " + more;
  if (contenders.size() == 1) return {concat("one point finished: ", described(first), without), repeat, first.record};
  return {concat("fastest: ", described(first), ", ", lead(first, contenders[1]), without), repeat, first.record};
}

std::string textOf(const Verdict& verdict) {
  return verdict.repeat.empty() ? verdict.finding : concat(verdict.finding, "; repeat with: ", verdict.repeat);
}

std::string verdictText(std::span<const RunRecord> records) { return textOf(verdictOn(records)); }

}  // namespace tandem

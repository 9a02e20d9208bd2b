#include <algorithm>

#include "base/text.h"
#include "config/command_line.h"
#include "measure/guards.h"
#include "measure/metric.h"
#include "measure/steadiness.h"
#include "report/point_label.h"
#include "report/renderer.h"

namespace tandem {
namespace {

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

size_t countOf(std::span<const RunRecord> records, std::string_view what) {
  return static_cast<size_t>(std::ranges::count(records, what, shortcoming));
}

/// "2 not valid, 1 not steady (...)": finished runs that are no headline; empty without.
std::string leftOut(std::span<const RunRecord> records) {
  std::vector<std::string> parts;
  for (const std::string_view what : {"not valid", "in doubt", "not steady"}) {
    if (const size_t count = countOf(records, what)) parts.push_back(concat(count, ' ', what));
  }
  return join(parts) + (countOf(records, "not steady") > 0 ? " (a larger --budget or --warmup helps)" : "");
}

std::string noneFinished(std::span<const RunRecord> records) {
  const std::string more = leftOut(records);
  return concat("no point to judge: ", countOf(records, "failed"), " failed, ", countOf(records, "skipped"), " skipped",
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
  if (record.outcome.kind == OutcomeKind::failed) return "failed";
  if (record.outcome.kind == OutcomeKind::skipped) return "skipped";
  if (!record.valid()) return "not valid";
  if (!isQuotable(record)) return "in doubt";
  return notSteadyBecause(record).empty() ? "" : "not steady";
}

Verdict judge(std::span<const RunRecord> records) {
  const auto contenders = contendersOf(records);
  if (contenders.empty()) return {noneFinished(records), "", nullptr};
  const Contender& first = contenders.front();
  const std::string repeat = commandLine("bench", first.record->config);
  const std::string more = leftOut(records), without = more.empty() ? "" : "; left out: " + more;
  if (contenders.size() == 1) return {concat("one point finished: ", described(first), without), repeat, first.record};
  return {concat("fastest: ", described(first), ", ", lead(first, contenders[1]), without), repeat, first.record};
}

std::string textOf(const Verdict& verdict) {
  return verdict.repeat.empty() ? verdict.finding : concat(verdict.finding, "; repeat with: ", verdict.repeat);
}

std::string verdict(std::span<const RunRecord> records) { return textOf(judge(records)); }

}  // namespace tandem

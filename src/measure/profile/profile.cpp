#include "measure/profile/profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/statistics.h"

namespace tandem {
namespace {

constexpr std::array table{
    Part{"input", "input", "waiting for the batch", &StepParts::input, false},
    Part{"host_to_device", "to device", "copying the batch to a GPU", &StepParts::hostToDevice, false},
    Part{"forward", "forward", "forward", &StepParts::forward, false},
    Part{"loss", "loss", "the loss and its gradient", &StepParts::loss, false},
    Part{"backward", "backward", "backward", &StepParts::backward, false},
    Part{"launch", "graph launch", "launching the recorded step", &StepParts::launch, false, /*added=*/true},
    Part{"hidden_exchange", "hidden exchange", "exchange within backward or a launch", &StepParts::hiddenExchange,
         false},
    Part{"exchange", "exchange", "exchange that nothing hides", &StepParts::exchange, false},
    Part{"hidden_update", "hidden update", "update within backward or a launch", &StepParts::hiddenUpdate, false},
    Part{"update", "update", "update after backward", &StepParts::update, false},
    Part{"idle", "idle", "waiting for other replicas", &StepParts::idle, true},
    Part{"rest", "rest", "everything else", &StepParts::rest, false},
};

using Around = std::span<const RecordedSpan* const>;

Nanos& partOf(StepParts& parts, SpanKind kind, Around around) {
  const bool hidden = std::ranges::any_of(around, [](const RecordedSpan* span) {
    return span->kind == SpanKind::backward || span->kind == SpanKind::launch;
  });
  switch (kind) {
    case SpanKind::input:
      return parts.input;
    case SpanKind::hostToDevice:
      return parts.hostToDevice;
    case SpanKind::forward:
      return parts.forward;
    case SpanKind::loss:
      return parts.loss;
    case SpanKind::backward:
      return parts.backward;
    case SpanKind::launch:
      return parts.launch;
    case SpanKind::exchange:
      return hidden ? parts.hiddenExchange : parts.exchange;
    case SpanKind::update:
      return hidden ? parts.hiddenUpdate : parts.update;
    case SpanKind::wait:
      return parts.idle;
    case SpanKind::step:
      break;
  }
  return parts.rest;
}

}  // namespace

std::span<const Part> stepParts() { return table; }

StepParts stepBreakdown(std::span<const RecordedSpan> spans) {
  StepParts parts;
  std::vector<const RecordedSpan*> open;
  for (const RecordedSpan& span : spans) {
    open.resize(std::min(open.size(), static_cast<size_t>(span.depth)));
    const Nanos duration = span.end - span.begin;
    partOf(parts, span.kind, open) += duration;
    if (!open.empty()) partOf(parts, open.back()->kind, Around(open).first(open.size() - 1)) -= duration;
    open.push_back(&span);
    if (span.kind == SpanKind::step) parts.begin = span.begin, parts.wall = duration;
    // An exchange ends the step, unless it runs within a captured step. The exchange before the batch fetches weights.
    if (span.depth != 1) continue;
    parts.arrival = span.kind == SpanKind::exchange ? std::optional(span.begin) : std::nullopt;
  }
  return parts;
}

namespace {

using OfReplicas = std::vector<const StepArrivals*>;  // arrivals of one step, by replica

/// The steps that all replicas have, if each has the same number of arrivals on every replica.
std::vector<OfReplicas> commonSteps(std::span<const std::span<const StepArrivals>> replicas) {
  std::map<int64_t, OfReplicas> ofStep;
  for (const auto replica : replicas) {
    for (const StepArrivals& step : replica) ofStep[step.step].push_back(&step);
  }
  std::vector<OfReplicas> common;
  for (auto& [number, steps] : ofStep) {
    const size_t exchanges = (common.empty() ? steps : common.front()).front()->arrivals.size();
    const bool alike = std::ranges::all_of(steps, [=](const auto* step) { return step->arrivals.size() == exchanges; });
    if (alike && steps.size() == replicas.size()) common.push_back(std::move(steps));
  }
  return common;
}

Nanos medianOf(const std::vector<Nanos>& times) {
  std::vector<double> counts;
  for (const Nanos time : times) counts.push_back(static_cast<double>(time.count()));
  return Nanos(std::llround(median(counts).value()));
}

ExchangeArrivals exchangeOf(std::span<const OfReplicas> steps, size_t exchange, size_t replicas) {
  ExchangeArrivals found{.bytes = steps.front().front()->arrivals[exchange].bytes};
  found.last.resize(replicas);
  std::vector<Nanos> apart;
  std::vector<std::vector<Nanos>> after(replicas);
  for (const OfReplicas& step : steps) {
    const Nanos begin = (*std::ranges::min_element(step, {}, &StepArrivals::begin))->begin;
    std::vector<Nanos> times;
    for (const StepArrivals* ofReplica : step) times.push_back(ofReplica->arrivals[exchange].at - begin);
    for (size_t replica = 0; replica < replicas; ++replica) after[replica].push_back(times[replica]);
    const auto [first, last] = std::ranges::minmax_element(times);
    ++found.last[static_cast<size_t>(last - times.begin())];
    apart.push_back(*last - *first);
  }
  found.apart = medianOf(apart);
  for (const auto& times : after) found.after.push_back(medianOf(times));
  return found;
}

}  // namespace

std::vector<ExchangeArrivals> exchangesOf(std::span<const std::span<const StepArrivals>> replicas) {
  const auto steps = commonSteps(replicas);
  std::vector<ExchangeArrivals> exchanges;
  if (replicas.size() < 2 || steps.empty()) return exchanges;
  for (size_t i = 0; i < steps.front().front()->arrivals.size(); ++i) {
    exchanges.push_back(exchangeOf(steps, i, replicas.size()));
  }
  return exchanges;
}

}  // namespace tandem

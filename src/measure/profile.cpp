#include "measure/profile.h"

#include <algorithm>
#include <array>

namespace tandem {
namespace {

constexpr std::array table{
    Part{"input", "input", "waiting for the batch", &StepParts::input, false},
    Part{"host_to_device", "to device", "copying the batch to a GPU", &StepParts::hostToDevice, false},
    Part{"forward", "forward", "forward", &StepParts::forward, false},
    Part{"loss", "loss", "the loss and its gradient", &StepParts::loss, false},
    Part{"backward", "backward", "backward", &StepParts::backward, false},
    Part{"hidden_exchange", "hidden exchange", "exchange within backward", &StepParts::hiddenExchange, false},
    Part{"exchange", "exchange", "exchange that nothing hides", &StepParts::exchange, false},
    Part{"hidden_update", "hidden update", "update within backward", &StepParts::hiddenUpdate, false},
    Part{"update", "update", "update after backward", &StepParts::update, false},
    Part{"idle", "idle", "waiting for other replicas", &StepParts::idle, true},
    Part{"rest", "rest", "everything else", &StepParts::rest, false},
};

using Around = std::span<const RecordedSpan* const>;

Nanos& partOf(StepParts& parts, SpanKind kind, Around around) {
  const bool hidden =
      std::ranges::any_of(around, [](const RecordedSpan* span) { return span->kind == SpanKind::backward; });
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

std::span<const Part> parts() { return table; }

StepParts takenApart(std::span<const RecordedSpan> spans) {
  StepParts parts;
  std::vector<const RecordedSpan*> open;
  for (const RecordedSpan& span : spans) {
    open.resize(std::min(open.size(), static_cast<size_t>(span.depth)));
    const Nanos duration = span.end - span.begin;
    partOf(parts, span.kind, open) += duration;
    if (!open.empty()) partOf(parts, open.back()->kind, Around(open).first(open.size() - 1)) -= duration;
    open.push_back(&span);
    if (span.kind == SpanKind::step) parts.begin = span.begin, parts.wall = duration;
    // After backward, or before the step: the last one is what ends it.
    if (span.kind == SpanKind::exchange && span.depth == 1) parts.arrival = span.begin;
  }
  return parts;
}

}  // namespace tandem

#include "observe/profiler.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "formats/log/trace_file.h"
#include "observe/packed_bytes.h"
#include "observe/run_observer.h"

namespace tandem {
namespace {

constexpr size_t mostSteps = 1000;  // per replica in a record
constexpr size_t mostSpansOfStep = 1 << 14;

template <class Value>
std::vector<Value> touched(size_t capacity) {
  std::vector<Value> values(capacity);
  values.clear();
  return values;
}

/// Writes spans, which are sorted by begin, as begin and end events in time order.
void write(TraceFile& trace, TraceFile::Track track, std::span<const RecordedSpan> spans,
           std::span<const int64_t> steps) {
  std::vector<const RecordedSpan*> open;
  size_t step = 0;
  const auto closeDownTo = [&](size_t depth) {
    for (; open.size() > depth; open.pop_back()) trace.end(track, open.back()->end);
  };
  for (const RecordedSpan& span : spans) {
    closeDownTo(static_cast<size_t>(span.depth));
    const bool whole = span.kind == SpanKind::step;
    trace.begin(track, span.begin, nameOf(span.kind), whole ? std::optional(steps[step++]) : std::nullopt);
    open.push_back(&span);
  }
  closeDownTo(0);
}

/// Writes the telemetry of the measured window on the time axis of the spans. The window began at `origin`.
void writeCounters(TraceFile& trace, const Telemetry& telemetry, Nanos origin) {
  const auto training = std::ranges::find(telemetry.phases, trainingPhase, &TelemetryPhase::name);
  if (training == telemetry.phases.end()) return;
  for (const TelemetrySeries& series : telemetry.series) {
    const auto counter = trace.addCounter(concat(series.device, " ", series.quantity), series.unit);
    for (size_t i = 0; i < std::min(series.values.size(), telemetry.at.size()); ++i) {
      const bool known = series.values[i] == series.values[i];
      if (known && telemetry.at[i] >= training->begin) {
        trace.value(counter, origin + telemetry.at[i] - training->begin, series.values[i]);
      }
    }
  }
}

struct StreamTrack {
  TraceFile::Track track;
  Nanos end;  // end of the last activity on the track
};

void write(TraceFile& trace, TraceFile::Track run, std::span<const DeviceActivity> activities) {
  std::vector<const DeviceActivity*> ordered;
  for (const DeviceActivity& activity : activities) ordered.push_back(&activity);
  std::ranges::stable_sort(ordered, {}, &DeviceActivity::begin);
  std::map<std::pair<int, int64_t>, std::vector<StreamTrack>> tracksOf;
  for (const DeviceActivity* activity : ordered) {
    auto& tracks = tracksOf[{activity->device, activity->stream}];
    auto place = std::ranges::find_if(tracks, [&](const StreamTrack& one) { return one.end <= activity->begin; });
    if (place == tracks.end()) {
      const std::string another = tracks.empty() ? std::string() : concat(" (", tracks.size() + 1, ")");
      const std::string name = concat("cuda:", activity->device, " stream ", activity->stream, another);
      tracks.push_back({trace.addTrack(name, run), Nanos{}});
      place = tracks.end() - 1;
    }
    const bool known = activity->step >= 0;
    trace.begin(place->track, activity->begin, activity->name, known ? std::optional(activity->step) : std::nullopt);
    trace.end(place->track, activity->end);
    place->end = activity->end;
  }
}

}  // namespace

Profiler::Recording::Recording(std::string where, size_t steps, size_t spans, size_t operations)
    : place(std::move(where)),
      recorder(steps == 0 ? 0 : mostSpansOfStep),
      operations(std::vector<OpTimer::Total>(operations)),
      steps(touched<StepParts>(steps)),
      arrivals(touched<StepArrivals>(steps)),
      spans(touched<RecordedSpan>(spans)),
      spanSteps(touched<int64_t>(spans == 0 ? 0 : steps)) {}

Profiler::Profiler(std::vector<std::string> places, size_t spans, std::vector<OpDemand> works)
    : works_(std::move(works)) {
  for (std::string& place : places) recordings_.emplace_back(std::move(place), mostSteps, spans, works_.size());
}

void Profiler::stepDone(int replica, int64_t step) {
  Recording& recording = recordings_[static_cast<size_t>(replica)];
  const auto spans = recording.recorder.spans();
  StepParts parts = stepBreakdown(spans);
  parts.step = step;
  ++recording.done;
  recording.wall += parts.wall;
  if (recording.recorder.lost() > 0) {
    ++recording.lost;
  } else {
    keep(recording, parts);
    recording.full = recording.full || recording.spans.size() + spans.size() > recording.spans.capacity() ||
                     recording.spanSteps.size() == recording.spanSteps.capacity();
    if (!recording.full) {
      recording.spans.insert(recording.spans.end(), spans.begin(), spans.end());
      recording.spanSteps.push_back(step);
    }
  }
  recording.recorder.clear();
}

/// All replicas keep the same steps. When the memory is full, every second step is dropped, from then on too.
void Profiler::keep(Recording& recording, const StepParts& step) const {
  if (step.step % recording.every != 0) return;
  if (recording.steps.size() == mostSteps) {
    recording.every *= 2;
    std::erase_if(recording.steps, [&](const StepParts& kept) { return kept.step % recording.every != 0; });
    std::erase_if(recording.arrivals, [&](const StepArrivals& kept) { return kept.step % recording.every != 0; });
    if (step.step % recording.every != 0) return;
  }
  recording.steps.push_back(step);
  const auto arrivals = recording.recorder.arrivals();
  recording.arrivals.push_back({step.step, step.begin, {arrivals.begin(), arrivals.end()}});
}

void Profiler::setBytes(int64_t input, int64_t gradients) { inputBytes_ = input, gradientBytes_ = gradients; }

std::string Profiler::packed() const {
  PackedBytes bytes;
  bytes.add(recordings_.size());
  for (const Recording& recording : recordings_) {
    bytes.add(recording.place);
    bytes.add(recording.operations.totals()), bytes.add(recording.done), bytes.add(recording.wall);
    bytes.add(recording.every), bytes.add(recording.lost);
    bytes.add(recording.steps), bytes.add(recording.spans), bytes.add(recording.spanSteps);
    bytes.add(recording.arrivals.size());
    for (const StepArrivals& step : recording.arrivals) {
      bytes.add(step.step), bytes.add(step.begin), bytes.add(step.arrivals);
    }
  }
  return bytes.take();
}

void Profiler::add(std::string_view packed, Nanos ahead, Nanos error) {
  UnpackedBytes bytes(packed);
  for (auto left = bytes.next<size_t>(); left > 0; --left) {
    Recording& added = recordings_.emplace_back("", 0, 0, 0);
    bytes.read(added.place);
    std::vector<OpTimer::Total> totals;
    bytes.read(totals), bytes.read(added.done), bytes.read(added.wall);
    added.operations = OpTimer(std::move(totals));
    bytes.read(added.every), bytes.read(added.lost);
    bytes.read(added.steps), bytes.read(added.spans), bytes.read(added.spanSteps);
    for (auto steps = bytes.next<size_t>(); steps > 0; --steps) {
      StepArrivals& step = added.arrivals.emplace_back();
      bytes.read(step.step), bytes.read(step.begin), bytes.read(step.arrivals);
    }
    setBack(added, ahead);
  }
  clockError_ = std::max(clockError_, error);
}

/// Times of another clock become those of this one.
void Profiler::setBack(Recording& recording, Nanos ahead) {
  for (StepParts& step : recording.steps) {
    step.begin -= ahead;
    if (step.arrival) *step.arrival -= ahead;
  }
  for (StepArrivals& step : recording.arrivals) {
    step.begin -= ahead;
    for (Arrival& arrival : step.arrivals) arrival.at -= ahead;
  }
  for (RecordedSpan& span : recording.spans) span.begin -= ahead, span.end -= ahead;
}

Nanos Profiler::origin() const {
  Nanos first = Nanos::max();
  for (const Recording& recording : recordings_) {
    if (!recording.steps.empty()) first = std::min(first, recording.steps.front().begin);
  }
  return first;
}

HostTimeline Profiler::hostTimeline() const {
  HostTimeline timeline;
  for (const OpDemand& work : works_) timeline.calls.push_back({.name = work.call, .operations = {work.name}});
  for (const Recording& recording : recordings_) {
    timeline.steps += recording.done, timeline.wall += recording.wall;
    const auto& totals = recording.operations.totals();
    for (size_t i = 0; i < std::min(totals.size(), works_.size()); ++i) {
      WorkGroup& call = timeline.calls[i];
      call.calls += totals[i].calls;
      call.time += totals[i].time, call.knownTime += totals[i].time;
    }
  }
  for (size_t i = 0; i < works_.size(); ++i) {
    timeline.calls[i].flops = works_[i].flops * static_cast<double>(timeline.steps);
    timeline.calls[i].bytes = works_[i].bytes * static_cast<double>(timeline.steps);
  }
  std::erase_if(timeline.calls, [](const WorkGroup& call) { return call.calls == 0; });
  return timeline;
}

void Profiler::fill(RunRecord& record) const {
  const Nanos zero = origin();
  Profile& profile = record.profile.emplace();
  std::vector<std::span<const StepArrivals>> arrivals;
  for (const Recording& recording : recordings_) arrivals.emplace_back(recording.arrivals);
  profile.exchanges = exchangesOf(arrivals);
  profile.inputBytes = inputBytes_, profile.gradientBytes = gradientBytes_;
  profile.clockError = clockError_;
  if (!works_.empty()) profile.host = hostTimeline();
  for (const Recording& recording : recordings_) {
    profile.every = std::max(profile.every, recording.every);
    profile.lostSteps += recording.lost;
    auto& steps = profile.replicas.emplace_back(ReplicaProfile{recording.steps}).steps;
    for (StepParts& step : steps) {
      step.begin -= zero;
      if (step.arrival) *step.arrival -= zero;
    }
  }
}

void Profiler::writeTrace(const std::string& path, const RunRecord& record,
                          std::span<const DeviceActivity> activities) const {
  TraceFile trace(path);
  const auto run = trace.addTrack(concat("tandem bench ", record.config.network.model, ", ", record.time));
  for (size_t i = 0; i < recordings_.size(); ++i) {
    const auto track = trace.addTrack(concat("replica ", i, ", ", recordings_[i].place), run);
    write(trace, track, recordings_[i].spans, recordings_[i].spanSteps);
  }
  write(trace, run, activities);
  writeCounters(trace, record.telemetry, origin());
  trace.commit();
}

}  // namespace tandem

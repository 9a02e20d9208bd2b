#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"

namespace tandem {

/// A kernel, a copy or a fill, as a device did it.
struct DeviceActivity {
  std::string name;  ///< "sgd_kernel<float>", "copy from host to device", "fill"
  int device = 0;    ///< ordinal
  int64_t stream = 0;
  Nanos begin{}, end{};    ///< by the clock
  int64_t bytes = 0;       ///< of a copy or a fill; 0 of a kernel
  int64_t step = -1;       ///< that enqueued it; -1: not known
  int64_t operation = -1;  ///< of the plan, for which it runs: an index of the OpDemand; -1: none, or not known
  bool inGraph = false;    ///< enqueued by the launch of a graph, not by a call of its own
};

/// What an operation of the plan does in one step of a replica, at the least.
struct OpDemand {
  std::string name;  ///< "conv forward"; several operations may have one
  double flops = 0, bytes = 0;
};

/// Activities of one name, or of one kind of operation, in all steps together.
struct WorkGroup {
  std::string name = {};                     ///< empty: of no operation of the plan
  std::vector<std::string> operations = {};  ///< of the plan, that they run for
  int64_t calls = 0;
  Nanos time{};       ///< each counts, also those that run at once
  Nanos knownTime{};  ///< of those whose bytes are known
  double flops = 0;   ///< of the plan
  double bytes = 0;   ///< of the plan; of a copy or a fill what it moves
  bool operator==(const WorkGroup&) const = default;
};

/// The device does nothing after the one, until the other begins.
struct DeviceGap {
  std::string after = {}, before = {};  ///< names of activities
  int64_t count = 0;
  Nanos total{}, longest{};
  bool operator==(const DeviceGap&) const = default;
};

/// Some steps of a device, one right after the other. Those with the most time come first.
struct GpuTimeline {
  int device = 0;
  int64_t steps = 0;
  Nanos wall{};  ///< of all steps
  Nanos busy{};  ///< of it with an activity on one stream or more
  std::vector<WorkGroup> kernels = {}, operations = {};
  std::vector<DeviceGap> gaps = {};  ///< those with the most time

  Nanos idle() const { return wall - busy; }
  bool operator==(const GpuTimeline&) const = default;
};

/// What the devices of a run did in some steps (docs/PROFILING.md).
struct DeviceProfile {
  std::string missing = {};  ///< why nothing is known; else empty
  int64_t lost = 0;          ///< activities that the library dropped, or gave no times of
  double flopsPeak = 0;      ///< per second, of one device, as its maker states it; 0: not known
  double bytesPeak = 0;      ///< per second, of its memory; 0: not known
  std::vector<GpuTimeline> devices = {};
  bool operator==(const DeviceProfile&) const = default;
};

/// Steps of what graphs do, by those of what calls of their own enqueue: a device does its steps one after the other,
/// so all of a graph is of the step of what last began before it. What begins before all that is known stays as it is.
void adoptSteps(std::span<DeviceActivity> activities);

/// Operations of activities of which none is known, as those of a launched graph: those of the activities with the same
/// names, in their order, of `eager`, one step of one device. Names that a step has more or less often stay as they
/// are.
void adoptOperations(std::span<DeviceActivity> activities, std::span<const DeviceActivity> eager);

struct TracedSteps {
  int64_t first = 0, end = 0;  ///< `end` follows on the last one
};

/// A device's steps, each from the first thing that it did of the step to the first of the next one. An operation's
/// work is spread over its activities in the step by their time. Empty where nothing is known of step `first` or `end`.
std::optional<GpuTimeline> gpuTimeline(std::span<const DeviceActivity> activities, int device, TracedSteps steps,
                                       std::span<const OpDemand> works);

}  // namespace tandem

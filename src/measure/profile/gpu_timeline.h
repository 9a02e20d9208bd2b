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
  Nanos begin{}, end{};    ///< times of the measuring clock
  int64_t bytes = 0;       ///< bytes of a copy or a fill; 0 for a kernel
  int64_t step = -1;       ///< step that enqueued it; -1: not known
  int64_t operation = -1;  ///< index of its OpDemand in the plan; -1: none, or not known
  bool inGraph = false;    ///< a graph launch enqueued it, not a call of its own
};

/// The least work of one operation of the plan in one step of a replica.
struct OpDemand {
  std::string name;  ///< "conv forward"; several operations may share it
  double flops = 0, bytes = 0;
  std::string call = {};  ///< the one that it is a pass of: "layer1.0.conv1 forward"
};

/// Activities that share a name or a kind of operation, summed over all steps.
struct WorkGroup {
  std::string name = {};                     ///< empty: they belong to no operation of the plan
  std::vector<std::string> operations = {};  ///< operations of the plan that they run for
  int64_t calls = 0;
  Nanos time{};       ///< sum over activities; concurrent ones count in full
  Nanos knownTime{};  ///< time of those with a known number of bytes
  double flops = 0;   ///< FLOPs by the plan
  double bytes = 0;   ///< bytes by the plan; for a copy or a fill the bytes that it moves
  bool operator==(const WorkGroup&) const = default;
};

/// A time in which the device is idle between two activities.
struct DeviceGap {
  std::string after = {}, before = {};  ///< names of the activities around it
  int64_t count = 0;
  Nanos total{}, longest{};
  bool operator==(const DeviceGap&) const = default;
};

/// Consecutive steps of one device. Groups are sorted by time, the largest first.
struct GpuTimeline {
  int device = 0;
  int64_t steps = 0;
  Nanos wall{};  ///< time of all steps
  Nanos busy{};  ///< the part of it with an activity on at least one stream
  std::vector<WorkGroup> kernels = {}, operations = {};
  std::vector<DeviceGap> gaps = {};  ///< the longest gaps

  Nanos idle() const { return wall - busy; }
  bool operator==(const GpuTimeline&) const = default;
};

/// The work of a run's devices in some steps (docs/PROFILING.md).
struct DeviceProfile {
  std::string missing = {};  ///< why nothing is known; else empty
  int64_t lost = 0;          ///< activities that the library dropped or gave no times for
  double flopsPeak = 0;      ///< peak per second of one device, as its maker states it; 0: not known
  double bytesPeak = 0;      ///< peak per second of its memory; 0: not known
  std::vector<GpuTimeline> devices = {};
  bool operator==(const DeviceProfile&) const = default;
};

/// Assigns each activity of a graph launch to a step: that of the last activity outside graphs that began before it.
/// This holds because a device runs its steps one after the other. Activities before the first known step stay
/// unassigned.
void adoptSteps(std::span<DeviceActivity> activities);

/// Copies operations to activities that have none, such as those of a replayed graph. They come from `eager`, one step
/// of one device, whose activities of the same name are matched in order. A name that occurs more or less often in a
/// step than in `eager` gets no operation.
void adoptOperations(std::span<DeviceActivity> activities, std::span<const DeviceActivity> eager);

struct TracedSteps {
  int64_t first = 0, end = 0;  ///< `end`: the step after the last one
};

/// The timeline of one device. A step lasts from its first activity to the first activity of the next one. The work of
/// an operation is spread over its activities in proportion to their time. Empty if no activity of step `first` or
/// `end` is known.
std::optional<GpuTimeline> gpuTimeline(std::span<const DeviceActivity> activities, int device, TracedSteps steps,
                                       std::span<const OpDemand> works);

}  // namespace tandem

#include "measure/validity/interference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace tandem {
namespace {

using Value = std::optional<double>;

constexpr double never = std::numeric_limits<double>::infinity();
constexpr Nanos tick = std::chrono::milliseconds(10);
/// NTP slews a clock by up to 500 ppm. A slew is not a step.
constexpr double largestSlew = 500e-6;

Nanos wall(const WindowCounters& window) { return window.end.steady - window.begin.steady; }

template <class Count>
std::optional<Count> grown(const WindowCounters& window, std::optional<Count> SystemCounters::*counter) {
  const auto &begin = window.begin.*counter, &end = window.end.*counter;
  if (!begin || !end) return {};
  return *end - *begin;
}

/// `part` in percent of `of`.
Value percent(std::optional<Nanos> part, Nanos of) {
  if (!part || of <= Nanos{}) return {};
  return 100 * seconds(*part) / seconds(of);
}

Value percentOfCpus(const WindowCounters& window, std::optional<Nanos> part) {
  if (wall(window) < shortestShare) return {};
  return percent(part, wall(window) * window.cpus);
}

Value otherPrograms(const WindowCounters& window) {
  const auto busy = grown(window, &SystemCounters::busy), own = grown(window, &SystemCounters::own);
  if (!busy || !own) return {};
  return percentOfCpus(window, std::max(*busy - *own, Nanos{}));
}

Value stolen(const WindowCounters& window) { return percentOfCpus(window, grown(window, &SystemCounters::stolen)); }
Value queued(const WindowCounters& window) { return percentOfCpus(window, grown(window, &SystemCounters::queued)); }

Value throttled(const WindowCounters& window) {
  return percent(grown(window, &SystemCounters::throttled), wall(window));
}

Value pressure(const WindowCounters& window) { return percent(grown(window, &SystemCounters::pressure), wall(window)); }

Value switches(const WindowCounters& window) {
  const auto count = grown(window, &SystemCounters::involuntary);
  if (!count || wall(window) <= Nanos{}) return {};
  return static_cast<double>(*count) / seconds(wall(window));
}

Value stopped(const WindowCounters& window) { return percent(window.stopped, wall(window)); }

Value clockStep(const WindowCounters& window) {
  const auto set = grown(window, &SystemCounters::wallClock);
  const auto passed = grown(window, &SystemCounters::sinceBoot);
  if (!set || !passed) return {};
  return std::max(0.0, std::abs(seconds(*set - *passed)) - largestSlew * seconds(*passed));
}

Value slept(const WindowCounters& window) {
  const auto passed = grown(window, &SystemCounters::sinceBoot);
  if (!passed) return {};
  return std::max(0.0, seconds(*passed - wall(window)));
}

Value percentOfOne(std::optional<double> share) {
  if (!share) return {};
  return 100 * *share;
}

Value gpuSlowed(const WindowCounters& window) { return percentOfOne(window.gpuSlowed); }
Value gpuOthers(const WindowCounters& window) { return percentOfOne(window.gpuOthers); }
Value gpuPrograms(const WindowCounters& window) { return window.gpuPrograms; }

/// A limit with at most two digits after the point.
std::string shortened(double limit) { return concat(std::round(100 * limit) / 100); }

constexpr std::string_view pressureName = "cpu_pressure";
constexpr double quietPressure = 20;  // %; threads of a run that wait for one another's cores make some of it

constexpr std::array table{
    InterferenceSign{"other_programs", "%", "share of the run's CPUs that others used, at least", 5, 1,
                     "other programs used the run's CPUs for", otherPrograms, true, /*byProcesses=*/true},
    InterferenceSign{"stolen", "%", "share of the run's CPUs that the hypervisor gave to other machines", 2, 0.5,
                     "the hypervisor gave the run's CPUs to others for", stolen, true},
    InterferenceSign{"throttled", "%", "share of the time that the control group was held at its CPU limit", 1, 0.5,
                     "the control group's CPU limit held the run for", throttled},
    InterferenceSign{"stopped", "%", "share of the time in which the process stood still", 5, 1,
                     "the process was stopped for", stopped},
    InterferenceSign{"clock_step", "s", "by how much the wall clock was set", 0.1, 0.1, "the wall clock was set by",
                     clockStep},
    InterferenceSign{"suspended", "s", "time in which the machine slept", 0.01, 0.01, "the machine slept for", slept},
    InterferenceSign{"gpu_slowed", "%", "samples in which a GPU was slowed by heat or its power supply", 1, 1,
                     "a GPU was slowed by heat or its power supply for", gpuSlowed},
    InterferenceSign{"gpu_others", "%", "use of a GPU of the run by others just before it, the most used one", 5, 5,
                     "just before the run other programs used a GPU of it for", gpuOthers},
    InterferenceSign{"gpu_programs", "programs", "others that had a GPU of the run in the window, at most", never,
                     never, "", gpuPrograms},
    InterferenceSign{"queued", "%", "time that the run's threads waited for a CPU, of the CPUs' time", never, never, "",
                     queued},
    InterferenceSign{pressureName, "%", "share of the time in which anything here waited for a CPU", never, never, "",
                     pressure},
    InterferenceSign{"involuntary_switches", "1/s", "context switches of the run that it did not ask for", never, never,
                     "", switches},
};

}  // namespace

std::span<const InterferenceSign> interferenceSigns() { return table; }

double limitOf(const InterferenceSign& sign, Nanos window, std::optional<double> spreadPercent) {
  if (!spreadPercent || sign.least == sign.limit) return sign.limit;
  const double ticks = sign.inTicks && window > Nanos{} ? 100 * 2 * seconds(tick) / seconds(window) : 0;
  return std::clamp(*spreadPercent, sign.least, sign.limit) + ticks;
}

bool isUnchecked(const Interference& found, Nanos window) {
  const auto pressure = found.signs.find(std::string(pressureName));
  const bool quiet = pressure != found.signs.end() && pressure->second <= quietPressure;  // false: also where unknown
  return window < shortestShare && !quiet;
}

Interference findInterference(const WindowCounters& window, std::optional<double> spreadPercent) {
  Interference found;
  for (const InterferenceSign& sign : table) {
    const Value value = sign.of(window);
    found.signs[std::string(sign.name)] = value.value_or(std::numeric_limits<double>::quiet_NaN());
    const double limit = limitOf(sign, wall(window), spreadPercent);
    if (value && *value > limit) {
      const bool named = sign.byProcesses && !window.busiest.empty();
      found.reasons.push_back(concat(sign.says, ' ', fixed(*value, 2), ' ', sign.unit, " (limit ", shortened(limit),
                                     ' ', sign.unit, ')',
                                     named ? "; the busiest on this machine: " + window.busiest : ""));
    }
  }
  return found;
}

}  // namespace tandem

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "measure/profile/gpu_timeline.h"
#include "trace/span.h"

namespace tandem {

/// One step of one replica, split into parts. Parts are times of the replica's thread; they do not overlap and add up
/// to `wall`. An exchange that runs within backward or within a replayed graph is hidden: the replica works on it while
/// others still compute.
struct StepParts {
  int64_t step = 0;  ///< number in the measured window, from 0
  Nanos begin{};     ///< since the first step of all replicas
  /// Time at which the last gradients are handed over, like `begin`. Empty if nothing is exchanged, or if a captured
  /// step hides it.
  std::optional<Nanos> arrival = {};
  Nanos wall{};
  Nanos input{}, hostToDevice{}, forward{}, loss{}, backward{};
  Nanos launch{};  ///< launch of a captured step, which contains all of the above but the input
  Nanos hiddenExchange{}, exchange{}, hiddenUpdate{}, update{};
  Nanos idle{};  ///< waits for other replicas
  Nanos rest{};  ///< the remainder

  bool operator==(const StepParts&) const = default;
};

/// A row of the table of parts. Reports show the parts in this order.
struct Part {
  std::string_view name, heading, help;
  Nanos StepParts::*time;
  bool follows;        ///< grows because another part grows, on another replica
  bool added = false;  ///< true if older records lack it
};

std::span<const Part> stepParts();

/// Splits a step by its spans, which are sorted by begin. Times of day are those of the measuring clock.
StepParts stepBreakdown(std::span<const RecordedSpan> spans);

/// The times at which a replica hands over gradients in a step, in this order. Times of day are those of the measuring
/// clock.
struct StepArrivals {
  int64_t step = 0;
  Nanos begin{};  ///< begin of the step
  std::vector<Arrival> arrivals = {};
};

struct ReplicaProfile {
  std::vector<StepParts> steps = {};

  bool operator==(const ReplicaProfile&) const = default;
};

/// One exchange of gradients in the step, of a bucket or a variable: the time at which each replica hands over its
/// part.
struct ExchangeArrivals {
  int64_t bytes = 0;               ///< bytes of one replica's gradients
  Nanos apart{};                   ///< time between the first and the last replica; median over the steps
  std::vector<Nanos> after = {};   ///< time since the first replica began the step; by replica, median over the steps
  std::vector<int64_t> last = {};  ///< number of steps in which the replica was the last; by replica

  bool operator==(const ExchangeArrivals&) const = default;
};

/// What the threads of CPU replicas do in all steps of the window, by the calls of the executor's plan.
struct HostTimeline {
  int64_t steps = 0;                  ///< of all replicas
  Nanos wall{};                       ///< sum over these steps
  std::vector<WorkGroup> calls = {};  ///< one per pass of a call, in the order of the plan
  bool operator==(const HostTimeline&) const = default;
};

/// The measured window of a run, step by step. Long runs keep only each `every`-th step.
struct Profile {
  int64_t every = 1;
  int64_t lostSteps = 0;      ///< steps of all replicas that had more spans than fit
  int64_t inputBytes = 0;     ///< bytes of one replica's batch, labels included
  int64_t gradientBytes = 0;  ///< bytes of one replica's gradients
  Nanos clockError{};  ///< the most by which times of replicas on different hosts are wrong; 0: there is one clock
  std::vector<ReplicaProfile> replicas = {};
  std::vector<ExchangeArrivals> exchanges = {};  ///< in the order of the step; empty: none, or not known
  std::optional<DeviceProfile> device = {};      ///< on GPUs only
  std::optional<HostTimeline> host = {};         ///< on CPUs only, of a planned executor

  bool operator==(const Profile&) const = default;
};

/// Puts the arrivals of all replicas side by side, over the steps that all have. The number of exchanges is that of the
/// first such step. Empty with one replica.
std::vector<ExchangeArrivals> exchangesOf(std::span<const std::span<const StepArrivals>> replicas);

}  // namespace tandem

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "measure/profile/gpu_timeline.h"
#include "trace/span.h"

namespace tandem {

/// One step of one replica, taken apart. The parts are times of the replica's thread, do not overlap and add up to
/// `wall`. What runs within backward, or within the launch of recorded work, is hidden: the replica works on it while
/// others still compute.
struct StepParts {
  int64_t step = 0;  ///< of the measured window, from 0
  Nanos begin{};     ///< since the first step of all replicas
  /// When its last gradients are handed over, as `begin`; empty: nothing is exchanged, or recorded work does it unseen.
  std::optional<Nanos> arrival = {};
  Nanos wall{};
  Nanos input{}, hostToDevice{}, forward{}, loss{}, backward{};
  Nanos launch{};  ///< of recorded work, which holds all of the above but the input
  Nanos hiddenExchange{}, exchange{}, hiddenUpdate{}, update{};
  Nanos idle{};  ///< waiting for other replicas
  Nanos rest{};  ///< what is left

  bool operator==(const StepParts&) const = default;
};

/// A row of the table of parts, in the order in which they are shown.
struct Part {
  std::string_view name, heading, help;
  Nanos StepParts::*time;
  bool follows;        ///< grows because something else does, on another replica
  bool added = false;  ///< older records lack it
};

std::span<const Part> parts();

/// The parts of the step whose spans these are, in the order of their begins. Times of day are those of the clock.
StepParts stepBreakdown(std::span<const RecordedSpan> spans);

/// What a replica hands over in a step, in this order. Times of day are those of the clock.
struct StepArrivals {
  int64_t step = 0;
  Nanos begin{};  ///< of the step
  std::vector<Arrival> arrivals = {};
};

struct ReplicaProfile {
  std::vector<StepParts> steps = {};

  bool operator==(const ReplicaProfile&) const = default;
};

/// An exchange of gradients in the step, of one bucket or variable: when each replica hands its part over.
struct ExchangeArrivals {
  int64_t bytes = 0;               ///< of a replica's gradients
  Nanos apart{};                   ///< between the first and the last replica; median over the steps
  std::vector<Nanos> after = {};   ///< since the first replica began the step; by replica, median over the steps
  std::vector<int64_t> last = {};  ///< steps in which the replica was the last; by replica

  bool operator==(const ExchangeArrivals&) const = default;
};

/// The measured window of a run, step by step. Not every step need be there: long runs keep each `every`-th one.
struct Profile {
  int64_t every = 1;
  int64_t lostSteps = 0;      ///< of all replicas; had more spans than there was room for
  int64_t inputBytes = 0;     ///< of a replica's batch, labels included
  int64_t gradientBytes = 0;  ///< of a replica
  std::vector<ReplicaProfile> replicas = {};
  std::vector<ExchangeArrivals> exchanges = {};  ///< in the order of the step; empty: none, or not known
  std::optional<DeviceProfile> device = {};      ///< of a run on GPUs

  bool operator==(const Profile&) const = default;
};

/// Arrivals of all replicas side by side, over the steps that all have, with as many exchanges as the first of them.
/// Empty with one replica.
std::vector<ExchangeArrivals> exchangesOf(std::span<const std::span<const StepArrivals>> replicas);

}  // namespace tandem

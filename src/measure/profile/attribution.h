#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// Median of a part's time, or of the whole step (StepParts::wall), over the steps of a replica; empty without any.
std::optional<double> medianSeconds(const ReplicaProfile& replica, Nanos StepParts::*time);

/// The part's share of all time of the replicas, 0 to 1; empty without any.
std::optional<double> shareOf(std::span<const ReplicaProfile> replicas, Nanos StepParts::*time);

/// Whether steps are recorded and launched: nobody sees on the host what is done within.
bool launched(const Profile& profile);

/// The replica that comes last to the exchange most often.
struct LastToArrive {
  int replica = 0;
  size_t steps = 0;        ///< that all replicas have
  double share = 0;        ///< of them
  double leadSeconds = 0;  ///< median of how much later it comes than the median of the others
  bool straggler = false;  ///< often and late enough to be called so: docs/PROFILING.md
};

/// Empty with one replica, and where none exchanges anything, or not on the host.
std::optional<LastToArrive> lastToArrive(const RunRecord& record);

/// How much a part of a replica's median step differs between two runs.
struct PartChange {
  const Part* part = nullptr;
  int replica = 0;
  double before = 0, after = 0;  ///< seconds
  double growth() const { return after - before; }
};

/// All of the replicas that both runs have. Those that changed most come first, but what follows from others last.
std::vector<PartChange> changes(const Profile& before, const Profile& after);

/// What a replica gets done in a step, and in which of its time.
struct Achieved {
  std::string_view name, unit;  ///< "compute", "FLOP"
  double amount = 0;            ///< per step
  double seconds = 0;           ///< median per step, of all replicas
  double peak = 0;              ///< per second, the replica's share of what its cores or their memory can; 0: not known
  /// Per second; empty where the time is too short to be one of work.
  std::optional<double> rate() const { return seconds >= 1e-5 ? std::optional(amount / seconds) : std::nullopt; }
};

/// Compute while forward, loss and backward run; bytes of input and of received gradients. What a launched step does
/// unseen is left out.
std::vector<Achieved> achieved(const RunRecord& record);

}  // namespace tandem

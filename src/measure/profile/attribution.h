#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// Median over the steps of a replica of one part, or of the whole step (StepParts::wall). Empty without steps.
std::optional<double> medianSeconds(const ReplicaProfile& replica, Nanos StepParts::*time);

/// Share of a part in the time of all replicas, 0 to 1. Empty without steps.
std::optional<double> shareOf(std::span<const ReplicaProfile> replicas, Nanos StepParts::*time);

/// Whether steps are captured and replayed. Then the host cannot see the parts within them.
bool isCaptured(const Profile& profile);

/// The replica that most often hands its gradients over last.
struct LastToArrive {
  int replica = 0;
  size_t steps = 0;        ///< steps that all replicas have
  double share = 0;        ///< share of these steps
  double leadSeconds = 0;  ///< by how much it comes after the median of the others; median over the steps
  bool straggler = false;  ///< true if it is last so often and so late that docs/PROFILING.md calls it a straggler
};

/// Empty with one replica, without an exchange, and with an exchange that the host does not see.
std::optional<LastToArrive> lastToArrive(const RunRecord& record);

/// Difference in one part of a replica's median step between two runs.
struct PartChange {
  const Part* part = nullptr;
  int replica = 0;
  double before = 0, after = 0;  ///< seconds
  double growth() const { return after - before; }
};

/// Changes of all parts, over the replicas that both runs have. The largest change comes first. Parts that only follow
/// from others come last.
std::vector<PartChange> partChanges(const Profile& before, const Profile& after);

/// A replica's share of the measured peaks, per second; 0: not known.
struct ReplicaPeaks {
  double flops = 0, bytes = 0;
};

ReplicaPeaks peaksOfReplica(const RunRecord& record);

/// The work of a replica in a step, and the time in which it was done.
struct Achieved {
  std::string_view name, unit;  ///< "compute", "FLOP"
  double amount = 0;            ///< work per step
  double seconds = 0;           ///< median per step over all replicas
  double peak = 0;  ///< per second: the replica's share of the peak of its cores or of their memory; 0: not known
  /// Work per second. Empty if the time is too short to have been work.
  std::optional<double> rate() const { return seconds >= 1e-5 ? std::optional(amount / seconds) : std::nullopt; }
};

/// FLOPs during forward, loss and backward; bytes of input and of received gradients. Parts that a replayed step hides
/// are left out.
std::vector<Achieved> achievedWork(const RunRecord& record);

/// What a step would gain at most from one change.
struct Headroom {
  std::string_view name;               ///< the part that would take no time, or "compute"
  double factor = 1;                   ///< time of the step / time after the change
  std::optional<double> rateNow = {};  ///< of compute, which would run at the measured peak: its share of it, 0 to 1
};

/// Of a run on CPUs, the largest gain first. Empty without steps. On GPUs parts are times of the host's thread, which
/// say nothing of what the GPU would gain.
std::vector<Headroom> headroomOf(const RunRecord& record);

}  // namespace tandem

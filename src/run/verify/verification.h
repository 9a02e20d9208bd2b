#pragma once

#include <memory>
#include <optional>

#include "measure/record/equality_stamp.h"
#include "run/plan/plan.h"
#include "run/plan/replica_set_options.h"
#include "train/replica_set.h"

namespace tandem {

/// A run of a point after its measured window.
struct MeasuredPoint {
  const RunPlan& plan;
  const ReplicaSetOptions& team;  ///< as measured
  TrainingData data;              ///< that the team trained on
  double stepSeconds = 0;         ///< median of the measured steps
  double runSeconds = 0;          ///< since the process began
};

/// The largest share of the time of a point's repeats, as many as are certain, that --verify=auto may take. One of them
/// is compared.
constexpr double largestVerifyShare = 0.1;

/// Seconds that compareInFp64() is expected to take: for each compared step a number of measured steps by its element
/// types, times the replicas of all ranks for one that computes all their shares (docs/METRICS.md). References compute
/// on one host, so their part is multiplied by the number of hosts.
double expectedVerifySeconds(const MeasuredPoint& point);

/// Bytes that references need beside what the run has freed: weights, gradients, sums, optimizer state and snapshots,
/// and a micro-batch's activations and gathered columns in fp64.
int64_t verifyBytes(const MeasuredPoint& point);

/// Why the point is not compared; empty: it is. `availableBytes`: what its device has free now.
std::string whyNotVerified(const MeasuredPoint& point, int64_t availableBytes);

/// The stamp of --verify: empty with --verify=off, a reason if the steps are not compared. A failure of the comparison
/// is a reason too. Leaves the process-wide permission of TF32 as the point has it. Collective where there are ranks:
/// rank 0 decides and compares, and its stamp alone counts. REQUIRES: no replica runs.
std::optional<EqualityStamp> verified(const MeasuredPoint& point);

/// What the record says while the comparison goes on, and keeps if the process does not live to its end.
EqualityStamp unfinishedStamp();

}  // namespace tandem

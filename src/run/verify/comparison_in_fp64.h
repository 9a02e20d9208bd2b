#pragma once

#include <memory>

#include "data/loader/batch_maker.h"
#include "data/loader/batch_source.h"
#include "measure/record/equality_stamp.h"
#include "train/replica_set.h"

namespace tandem {

/// A team of replicas whose first steps are compared.
struct ComparedTeam {
  const ReplicaSetOptions& options;           ///< outlives the comparison; with several ranks those of this one
  std::shared_ptr<const BatchMaker> batches;  ///< of the whole global batches, of which replicas get equal ranges
  const SourceEntry& source;                  ///< row of the team's sources
  Mixing mixing = {};                         ///< of these batches
  Device device;  ///< where references compute; on a CPU with the cores of all replicas of the host
};

/// The number of steps that are compared: 2, with which the second update reads optimizer state and new weights. If
/// steps are captured, as many as it takes to launch one.
int64_t comparedSteps(const ReplicaSetOptions& team);

/// Whether the team is compared with one replica of the same kernels too: all ranks together have several, with equal
/// shares, and no operation draws numbers, because every replica draws its own.
bool comparesReplicas(const ReplicaSetOptions& team);

/// Makes the first steps of a team once more, from its start weights and on its batches, beside ReferenceTraining in
/// fp64. The same steps by ReferenceTraining in fp32, and in the team's precision if that is another, give the errors
/// of plain ATen.
///
/// If comparesReplicas(), also beside one replica with the team's kernels and precision, which computes the replicas'
/// shares one after the other. Equal bits then say that the exchange adds no error at all.
///
/// Collective where there are ranks. All make the steps, and must end with equal weights; then rank 0 compares, while
/// the others return a stamp that says so.
///
/// A scaled loss begins with a scale that does not overflow at once. The reason says so if a step was skipped all the
/// same, or if the reference's weights did not change. Throws what training throws. REQUIRES: the team trains, and its
/// strategy is synchronous unless it is one replica.
EqualityStamp compareInFp64(const ComparedTeam& team);

}  // namespace tandem

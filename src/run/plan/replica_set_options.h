#pragma once

#include "run/plan/plan.h"
#include "train/replica_set.h"

namespace tandem {

/// The devices of a resolved plan's replicas.
std::vector<Device> devicesOf(const RunPlan& plan);

/// The replicas that a plan asks for, with `kernels`, to run `graph`: the plan's or a part of it. They have no source
/// of batches. `graph` outlives the result.
ReplicaSetOptions replicaSetOptions(const RunPlan& plan, const Graph& graph, const KernelSelection& kernels);

/// The same for the plan's whole graph, with the batches that the plan asks for. Reads the data set (DataError).
ReplicaSetOptions trainingOptions(const RunPlan& plan, const KernelSelection& kernels);

}  // namespace tandem

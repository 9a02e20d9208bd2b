#pragma once

#include "run/plan/plan.h"
#include "train/replica_set.h"

namespace tandem {

/// What a configuration says about the update.
OptimizerOptions optimizerOptions(const Config& config);

/// The devices of a resolved plan's replicas.
std::vector<Device> devicesOf(const RunPlan& plan);

/// The team that a resolved plan asks for, with `kernels`. Opens the data set (DataError). `graph` outlives the result.
ReplicaSetOptions replicaSetOptions(const RunPlan& plan, const Graph& graph, const KernelSelection& kernels);

}  // namespace tandem

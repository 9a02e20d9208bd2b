#pragma once

#include "engine/plan.h"
#include "engine/team.h"

namespace tandem {

/// The team that a resolved plan asks for. Opens the data set (DataError). `graph` outlives the result.
TeamOptions teamOptions(const RunPlan& plan, const Graph& graph);

}  // namespace tandem

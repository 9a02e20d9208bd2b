#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "measure/record/record.h"

namespace tandem {

/// Updates of the weights in the whole run, warm-up included: steps less those that a loss scale skipped, or the number
/// that was counted where ranks update by themselves. Empty if nothing was trained.
std::optional<int64_t> updatesOf(const RunRecord& record);

/// "weights after 485 updates (185 of warm-up)". Empty if nothing was trained.
std::string updatesText(const RunRecord& record);

}  // namespace tandem

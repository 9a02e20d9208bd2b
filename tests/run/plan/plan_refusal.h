#pragma once

#include <string>

#include "base/error.h"
#include "run/plan/plan.h"
#include "support/text_of_failure.h"

namespace tandem {

/// Why a plan is refused, for its options or its memory; empty: it is not.
inline std::string refusalOf(const Config& config) {
  return textOfFailure<UsageError>([&] { checkMemory(resolvePlan(config)); });
}

}  // namespace tandem

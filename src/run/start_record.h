#pragma once

#include "measure/record/record.h"

namespace tandem {

/// A record with the time, the configuration and the environment. Environment variables that a worker does not inherit
/// are left out.
RunRecord startRecord(const Config& config);

}  // namespace tandem

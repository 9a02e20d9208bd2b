#pragma once

#include "measure/record/record.h"

namespace tandem {

/// The beginning of every record: the time, the configuration, and the environment that a worker has.
RunRecord startRecord(const Config& config);

}  // namespace tandem

#pragma once

#include <string>

#include "measure/record/record.h"

namespace tandem {

/// A run as lines ":::MLLOG {...}" in the style of MLPerf Training (mlcommons/logging, mllog.py: the members namespace,
/// time_ms, event_type, key, value, metadata, in this order): start and end of initialisation and of the run, batch,
/// optimizer, seed, the loss and the throughput. Initialisation lasts to the end of warm-up, the run is the measured
/// window. It is not a submission: nothing is trained to an accuracy.
std::string mllogOf(const RunRecord& record);

}  // namespace tandem

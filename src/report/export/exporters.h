#pragma once

#include <string>

#include "formats/log/event_file.h"
#include "measure/record/record.h"

namespace tandem {

/// A run for TensorBoard. Of each step, counted from 1 with warm-up: `loss`; of each measured one images_per_s, step_ms
/// (the slowest replica's), input_ms and exposed_comm_ms (means of the replicas). Of each moment of the telemetry its
/// series, DEVICE/QUANTITY (UNIT). The configuration as a text. What was not measured has no point.
EventFile eventsOf(const RunRecord& record);

/// A run as lines ":::MLLOG {...}" in the style of MLPerf Training (mlcommons/logging, mllog.py: the members namespace,
/// time_ms, event_type, key, value, metadata, in this order): start and end of initialisation and of the run, batch,
/// optimizer, seed, the loss and the throughput. Initialisation lasts to the end of warm-up, the run is the measured
/// window. It is not a submission: nothing is trained to an accuracy.
std::string mllogOf(const RunRecord& record);

}  // namespace tandem

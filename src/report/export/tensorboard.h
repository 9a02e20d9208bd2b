#pragma once

#include "formats/log/event_file.h"
#include "measure/record/record.h"

namespace tandem {

/// A run for TensorBoard. Of each step, counted from 1 with warm-up: `loss`; of each measured one images_per_s, step_ms
/// (the slowest replica's), input_ms and exposed_comm_ms (means of the replicas). Of each moment of the telemetry its
/// series, DEVICE/QUANTITY (UNIT). The configuration as a text. What was not measured has no point.
EventFile eventsOf(const RunRecord& record);

}  // namespace tandem

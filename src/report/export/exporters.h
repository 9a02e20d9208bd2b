#pragma once

#include <string>

#include "formats/log/event_file.h"
#include "measure/record/record.h"

namespace tandem {

/// A run for TensorBoard. A training has train/loss of each step, counted from 1, train/learning_rate and
/// train/images_per_s of each part at its last step, and the figures of each evaluation, SPLIT/METRIC, and the
/// pictures of wrong predictions that were read, SPLIT/wrong 01: CLASS taken for CLASS, PROBABILITY. Of another run
/// each step, counted from 1 with warm-up, has `loss`. Each measured step has images_per_s, step_ms (of the slowest
/// replica), input_ms and exposed_comm_ms (means over the replicas). Each sample of the telemetry has its series,
/// DEVICE/QUANTITY (UNIT). The configuration is a text. A value that was not measured has no point.
EventFile eventsOf(const RunRecord& record);

/// A run as lines ":::MLLOG {...}" in the style of MLPerf Training (mlcommons/logging, mllog.py). Members are
/// namespace, time_ms, event_type, key, value, metadata, in this order. The lines hold start and end of initialisation
/// and of the run, batch, optimizer, seed, the loss and the throughput. Initialisation lasts to the end of warm-up; the
/// run is the measured window.
///
/// The run of a training is all of it: epoch_start and epoch_stop of each part, eval_start, eval_stop and eval_accuracy
/// of each evaluation, by the metric of the best weights, with epoch_num and samples_count. It is a success unless it
/// was interrupted or did not reach its --stop-at. This is no submission: benchmark and rules are not those of MLPerf.
std::string mllogOf(const RunRecord& record);

}  // namespace tandem

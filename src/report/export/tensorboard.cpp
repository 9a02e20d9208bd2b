#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "config/command_line.h"
#include "measure/metrics/evaluation.h"
#include "measure/metrics/step_times.h"
#include "report/export/calendar_times.h"
#include "report/export/exporters.h"
#include "report/tables/point_label.h"
#include "report/tables/wrong_table.h"

namespace tandem {
namespace {

/// Mean over the replicas of a time in each of the first `count` measured steps.
std::vector<double> meanSeconds(const RunRecord& record, size_t count, Nanos StepSample::*part) {
  std::map<int, size_t> stepsOf;
  std::vector<double> sums(count);
  for (const StepSample& sample : record.steps) {
    const size_t step = stepsOf[sample.replica]++;
    if (step < sums.size()) sums[step] += seconds(sample.*part);
  }
  for (double& sum : sums) sum /= static_cast<double>(std::max<size_t>(1, stepsOf.size()));
  return sums;
}

std::string configurationText(const RunRecord& record) {
  std::string text = concat("    ", oneLine(commandLine(record.training ? "train" : "bench", record.config)),
                            "\n\n| option | value |\n|---|---|\n");
  for (const Option& option : options()) {
    if ((option.commands & inRecords) == 0) continue;
    text += concat("| ", option.name, " | ", oneLine(valueText(record.config, option)), " |\n");
  }
  return text;
}

void addSteps(const RunRecord& record, const RunTimes& times, EventFile& events) {
  const auto end = [&](size_t step) { return times.stepEnds.at(step); };
  for (size_t i = 0; i < std::min(record.losses.size(), times.stepEnds.size()); ++i) {
    if (std::isfinite(record.losses[i])) events.scalar("loss", static_cast<int64_t>(i) + 1, end(i), record.losses[i]);
  }
  const auto walls = stepSeconds(record);
  const auto input = meanSeconds(record, walls.size(), &StepSample::input),
             comm = meanSeconds(record, walls.size(), &StepSample::exposedComm);
  for (size_t i = 0; i < walls.size(); ++i) {
    const size_t step = static_cast<size_t>(record.warmup.steps) + i;
    const auto scalar = [&](const char* tag, double value) {
      events.scalar(tag, static_cast<int64_t>(step) + 1, end(step), value);
    };
    if (walls[i] > 0) scalar("images_per_s", static_cast<double>(record.globalBatch) / walls[i]);
    scalar("step_ms", 1e3 * walls[i]);
    scalar("input_ms", 1e3 * input.at(i));
    scalar("exposed_comm_ms", 1e3 * comm.at(i));
  }
}

/// The loss of each step, and rates of each part at its last step.
void addCourse(const RunRecord& record, const RunTimes& times, EventFile& events) {
  const auto parts = partsOf(record);
  if (parts.empty()) return;
  const auto scalar = [&](const std::string& tag, int64_t step, Nanos at, double value) {
    if (std::isfinite(value)) events.scalar(tag, step, calendarTime(times, parts, at), value);
  };
  for (size_t i = 0; i < record.losses.size(); ++i) {
    const int64_t step = parts.front().firstStep + static_cast<int64_t>(i) + 1;
    scalar("train/loss", step, endOfStep(parts, step), record.losses[i]);
  }
  for (const CoursePart& part : parts) {
    scalar("train/learning_rate", part.step, part.trained(), part.rate);
    if (part.time.training <= Nanos{}) continue;
    const auto images = static_cast<double>((part.step - part.firstStep) * record.globalBatch);
    scalar("train/images_per_s", part.step, part.trained(), images / seconds(part.time.training));
  }
  for (const EvaluationRecord& evaluation : record.training->evaluations) {
    for (const EvaluationMetric& metric : evaluationMetrics()) {
      const double value = metric.of(evaluation);
      if (value == EvaluationRecord::none) continue;
      scalar(concat(evaluation.split, '/', metric.name), evaluation.step, evaluation.at, value);
    }
  }
}

/// The pictures of wrong predictions, in the order of the record.
void addWrong(const RunRecord& record, const RunTimes& times, EventFile& events) {
  const auto parts = partsOf(record);
  if (parts.empty()) return;
  for (const EvaluationRecord& evaluation : record.training->evaluations) {
    const double time = calendarTime(times, parts, evaluation.at);
    for (size_t i = 0; i < evaluation.wrong.size(); ++i) {
      const WrongPrediction& wrong = evaluation.wrong[i];
      if (wrong.png.empty()) continue;
      const std::string tag = concat(evaluation.split, "/wrong ", i + 1 < 10 ? "0" : "", i + 1, ": ",
                                     wrongText(record.training->classes, wrong));
      events.image(tag, evaluation.step, time, wrong.png);
    }
  }
}

void addTelemetry(const RunRecord& record, const RunTimes& times, EventFile& events) {
  for (const TelemetrySeries& series : record.telemetry.series) {
    const std::string tag = concat(series.device, '/', series.quantity, " (", series.unit, ')');
    for (size_t i = 0; i < std::min(series.values.size(), record.telemetry.at.size()); ++i) {
      if (!std::isfinite(series.values[i])) continue;
      events.scalar(tag, static_cast<int64_t>(i) + 1, times.firstStep + seconds(record.telemetry.at[i]),
                    series.values[i]);
    }
  }
}

}  // namespace

EventFile eventsOf(const RunRecord& record) {
  const RunTimes times = runTimes(record);
  EventFile events(times.start);
  events.text("configuration", times.start, configurationText(record));
  if (record.training) {
    addCourse(record, times, events);
    addWrong(record, times, events);
  } else {
    addSteps(record, times, events);
  }
  addTelemetry(record, times, events);
  return events;
}

}  // namespace tandem

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/text.h"
#include "measure/training_example.h"
#include "report/export/calendar_times.h"
#include "report/export/exporters.h"

namespace tandem {
namespace {

/// Events of a tag, by the bytes of its name behind its length. (make verify-tensorboard reads all with TensorBoard.)
int count(const EventFile& events, const std::string& tag) {
  const std::string wanted = concat('\x0a', static_cast<char>(tag.size()), tag);
  int found = 0;
  for (size_t at = events.bytes().find(wanted); at != std::string::npos; at = events.bytes().find(wanted, at + 1)) {
    ++found;
  }
  return found;
}

TEST(TensorBoard, EveryStepHasItsScalars) {
  const EventFile events = eventsOf(exampleRecord(2, "replicated", 100));  // 6 steps of warm-up and 30 measured
  EXPECT_EQ(count(events, "loss"), 36);
  for (const char* tag : {"images_per_s", "step_ms", "input_ms", "exposed_comm_ms"}) {
    EXPECT_EQ(count(events, tag), 30) << tag;
  }
  EXPECT_EQ(count(events, "configuration"), 1);
  EXPECT_NE(events.bytes().find("| replicas | 2 |"), std::string::npos);
}

TEST(TensorBoard, WhatWasNotMeasuredHasNoPoint) {
  RunRecord record = exampleRecord(1, "replicated", 100);
  record.losses[3] = std::nan("");
  record.telemetry = {.at = {millis(0), millis(250), millis(500)},
                      .series = {{"cpu 0", "use", "%", {10, std::nan(""), 30}}},
                      .phases = {},
                      .cpu = {}};
  const EventFile events = eventsOf(record);
  EXPECT_EQ(count(events, "loss"), 35);
  EXPECT_EQ(count(events, "cpu 0/use (%)"), 2);
}

TEST(TensorBoard, ATrainingHasItsCourseAndItsEvaluations) {
  RunRecord record = exampleTraining();
  record.losses[7] = std::nan("");
  const EventFile events = eventsOf(record);
  EXPECT_EQ(count(events, "train/loss"), 799) << "since it went on";
  EXPECT_EQ(count(events, "train/learning_rate"), 8);
  EXPECT_EQ(count(events, "train/images_per_s"), 8);
  for (const char* tag : {"validation/loss", "validation/accuracy", "validation/top5"}) {
    EXPECT_EQ(count(events, tag), 12) << tag << ": those before the resume too";
  }
  EXPECT_EQ(count(events, "test/accuracy"), 1);
  for (const char* tag : {"validation/auc", "loss", "step_ms"}) EXPECT_EQ(count(events, tag), 0) << tag;
  EXPECT_EQ(count(eventsOf(exampleFlagsTraining()), "validation/auc"), 12);
  EXPECT_NE(events.bytes().find("tandem train "), std::string::npos);
}

TEST(TensorBoard, WrongPredictionsAreImagesWhereTheyWereRead) {
  RunRecord record = exampleWithWrongPredictions();
  const std::string first = "validation/wrong 01: 3 shape 3 taken for 5 shape 5, 99.61 %",
                    second = "validation/wrong 02: 0 shape 0 taken for 1 shape 1, 75.00 %";
  EXPECT_EQ(count(eventsOf(record), first), 0) << "a stored record has no pictures";
  record.training->evaluations[11].wrong[0].png = examplePng();
  const EventFile events = eventsOf(record);
  EXPECT_EQ(count(events, first), 1);
  EXPECT_EQ(count(events, second), 0);
}

TEST(TensorBoard, TimesOfATrainingGoOnFromItsFirstStep) {
  const RunRecord record = exampleTraining();
  const auto parts = partsOf(record);
  const RunTimes times = runTimes(record);
  EXPECT_DOUBLE_EQ(calendarTime(times, parts, parts.front().begin), times.start + 0.5);
  EXPECT_DOUBLE_EQ(calendarTime(times, parts, parts.front().trained()), times.start + 10.5);
  EXPECT_DOUBLE_EQ(calendarTime(times, parts, Nanos{}), times.start + 0.5 - 45.5)
      << "as if it had not been interrupted";
}

TEST(TensorBoard, ARunWithoutStepsHasItsConfigurationAlone) {
  RunRecord failed = failedRecord(2, ExitCode::numeric, "loss is NaN");
  failed.time = "2026-01-02T03:04:05Z";
  EXPECT_EQ(count(eventsOf(failed), "configuration"), 1);
  EXPECT_EQ(count(eventsOf(failed), "step_ms"), 0);
}

}  // namespace
}  // namespace tandem

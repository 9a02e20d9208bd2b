#include "measure/metrics/metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "measure/metrics/step_times.h"
#include "measure/metrics/training_course.h"
#include "measure/metrics/updates.h"
#include "measure/training_example.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

std::optional<double> valueOf(const char* name, const RunRecord& record, const RunRecord* baseline = nullptr) {
  return metric(name).of(record, baseline);
}

/// Two replicas, five steps; slowest per step: 100, 110, 120, 130, 140 ms.
RunRecord fiveSteps() {
  RunRecord record = exampleRecord(2, "replicated", 100);
  record.steps.clear();
  for (int step = 0; step < 5; ++step) {
    const double slow = 100 + 10 * step;
    record.steps.push_back({step % 2, millis(slow), millis(10), millis(80), millis(10)});
    record.steps.push_back({1 - step % 2, millis(slow - 20), millis(30), millis(40), millis(10)});
  }
  record.measuredSteps = 5;
  record.window = millis(600);
  record.minorFaults = 20;
  record.placement.activationBytes = int64_t{300} << 20;
  record.placement.dataImages = 32000;
  return record;
}

TEST(Metric, HandComputedValues) {
  const RunRecord record = fiveSteps();
  EXPECT_DOUBLE_EQ(*valueOf("images_per_s", record), 32 * 5 / 0.6);
  EXPECT_DOUBLE_EQ(*valueOf("epoch_s", record), 32000 / (32 * 5 / 0.6));
  EXPECT_DOUBLE_EQ(*valueOf("step_mean_ms", record), 120);
  EXPECT_DOUBLE_EQ(*valueOf("step_median_ms", record), 120);
  // s = 15.8114, s / sqrt(5) = 7.0711, t(0.975, 4) = 2.7764: half width 19.632 ms of 120 ms.
  EXPECT_NEAR(*valueOf("spread_percent", record), 16.360, 1e-3);
  EXPECT_NEAR(*valueOf("images_per_s_low", record), 266.6667 / 1.16360, 2e-3);
  EXPECT_NEAR(*valueOf("images_per_s_high", record), 266.6667 / 0.83640, 5e-3);
  EXPECT_NEAR(*valueOf("input_wait_percent", record), 100 * 200.0 / 1100, 1e-9);
  EXPECT_NEAR(*valueOf("exposed_comm_percent", record), 100 * 100.0 / 1100, 1e-9);
  EXPECT_EQ(*valueOf("warmup_steps", record), 6);
  EXPECT_DOUBLE_EQ(*valueOf("warmup_s", record), 0.6);
  EXPECT_DOUBLE_EQ(*valueOf("startup_s", record), 0.5);
  EXPECT_DOUBLE_EQ(*valueOf("peak_memory_mib", record), 900);
  EXPECT_FALSE(valueOf("peak_reserved_mib", record)) << "unknown on a CPU, and not 0";
  EXPECT_DOUBLE_EQ(*valueOf("activations_mib", record), 300);
  EXPECT_DOUBLE_EQ(*valueOf("traffic_mib_per_step", record), 3);
  EXPECT_DOUBLE_EQ(*valueOf("minor_faults_per_step", record), 4);
}

TEST(Metric, StepTimeIsTheSlowestReplicasAndOnlyWholeStepsCount) {
  RunRecord record = fiveSteps();
  record.steps.pop_back();
  EXPECT_EQ(stepSeconds(record).size(), 4u);
  EXPECT_DOUBLE_EQ(stepSeconds(record).at(3), 0.13);
  EXPECT_TRUE(stepSeconds(RunRecord()).empty());
}

TEST(Metric, PercentileNeedsTwentySteps) {
  RunRecord record = exampleRecord(1, "replicated", 100);
  record.steps = exampleSteps(1, 19, 100);
  EXPECT_FALSE(valueOf("step_p95_ms", record).has_value());
  record.steps.clear();
  for (int i = 1; i <= 21; ++i) record.steps.push_back({0, millis(i), {}, {}, {}});
  EXPECT_DOUBLE_EQ(*valueOf("step_p95_ms", record), 20);
}

TEST(Metric, FewerThanFiveStepsGiveNoInterval) {
  RunRecord record = exampleRecord(1, "replicated", 100);
  record.steps.resize(4);
  EXPECT_TRUE(valueOf("images_per_s", record).has_value());
  EXPECT_FALSE(valueOf("spread_percent", record).has_value());
  EXPECT_FALSE(valueOf("images_per_s_low", record).has_value());
}

TEST(Metric, FinalLossIsTheMeanOfTheLastTwenty) {
  RunRecord record = exampleRecord(1, "replicated", 100);
  record.losses.assign(30, 100.0);
  for (size_t i = 10; i < 30; ++i) record.losses[i] = static_cast<double>(i);
  EXPECT_DOUBLE_EQ(*valueOf("final_loss", record), 19.5);
  record.losses = {2, 4};
  EXPECT_DOUBLE_EQ(*valueOf("final_loss", record), 3);
  record.losses.clear();
  EXPECT_FALSE(valueOf("final_loss", record).has_value());
  record.losses = {1, std::nan("")};
  EXPECT_FALSE(valueOf("final_loss", record).has_value());
}

TEST(Metric, TrainingCountsThreeForwardPasses) {
  RunRecord record = exampleRecord(1, "replicated", 100);  // 160 images/s, 8.2 GFLOP forward
  EXPECT_NEAR(*valueOf("tflops", record), 3.936, 1e-9);
  record.config.step.forwardOnly = true;
  EXPECT_NEAR(*valueOf("tflops", record), 1.312, 1e-9);
  record.placement.forwardFlopsPerImage = 0;
  EXPECT_FALSE(valueOf("tflops", record).has_value());
}

TEST(Metric, CeilingsAreThePeaksOverTheWorkOfAnImage) {
  RunRecord record = exampleRecord(1, "replicated", 100);  // 16 images a step, 160 images/s
  EXPECT_FALSE(valueOf("flop_ceiling_percent", record).has_value());
  record.placement.flopsPerImage = 2e9;
  record.placement.bytesPerStep = 4e9;
  EXPECT_DOUBLE_EQ(*valueOf("gflops", record), 320);
  EXPECT_DOUBLE_EQ(*valueOf("gbytes", record), 40);
  for (const char* name : {"flop_ceiling", "flop_ceiling_percent", "byte_ceiling", "byte_ceiling_percent"}) {
    EXPECT_FALSE(valueOf(name, record).has_value()) << name << ": no peak is known";
  }
  record.flopsPeak = 500e9;
  record.bytesPeak = 50e9;
  EXPECT_DOUBLE_EQ(*valueOf("flop_ceiling", record), 250);
  EXPECT_DOUBLE_EQ(*valueOf("flop_ceiling_percent", record), 64);
  EXPECT_DOUBLE_EQ(*valueOf("byte_ceiling", record), 200);
  EXPECT_DOUBLE_EQ(*valueOf("byte_ceiling_percent", record), 80);
}

TEST(Metric, UpdatesAreOfTheWholeRun) {
  RunRecord record = fiveSteps();
  EXPECT_EQ(valueOf("updates", record), 11);
  EXPECT_EQ(updatesText(record), "weights after 11 updates (6 of warm-up)");
  record.skippedSteps = 3;
  EXPECT_EQ(valueOf("updates", record), 8);
  EXPECT_EQ(updatesText(record), "weights after 8 updates (6 of warm-up; 3 steps made none)");
  record.config.step.forwardOnly = true;
  EXPECT_FALSE(valueOf("updates", record).has_value());
  EXPECT_EQ(updatesText(record), "");
}

TEST(Metric, OnlyATrainingHasFiguresOfIt) {
  const RunRecord training = exampleTraining(), flags = exampleFlagsTraining();
  EXPECT_DOUBLE_EQ(*valueOf("eval_accuracy", training), 1 - 0.5 / 12 - 0.04)
      << "of the split that judges, not of the last";
  EXPECT_DOUBLE_EQ(*valueOf("eval_accuracy_best", training), 0.95);
  EXPECT_DOUBLE_EQ(*valueOf("eval_top5", training), 1 - (0.5 / 12 + 0.04) / 5);
  EXPECT_DOUBLE_EQ(*valueOf("eval_top5_best", training), 0.99);
  EXPECT_FALSE(valueOf("eval_auc", training) || valueOf("eval_auc_best", training));
  EXPECT_DOUBLE_EQ(*valueOf("eval_loss", training), 1.0 / 12 + 0.08);
  EXPECT_DOUBLE_EQ(*valueOf("eval_loss_best", training), 0.1);
  EXPECT_DOUBLE_EQ(*valueOf("eval_auc", flags), 0.99 - 0.5 / 12 - 0.04);
  EXPECT_DOUBLE_EQ(*valueOf("eval_auc_best", flags), 0.94);
  EXPECT_FALSE(valueOf("eval_top5", flags) || valueOf("eval_top5_best", flags));
  EXPECT_DOUBLE_EQ(*valueOf("epoch_training_s", training), 10);
  EXPECT_DOUBLE_EQ(*valueOf("epoch_whole_s", training), 11.5 + 1.0 / 8) << "8 epochs, and the test images once";
  EXPECT_DOUBLE_EQ(*valueOf("idle_percent", training), 100 * 0.8 / 93);
  EXPECT_DOUBLE_EQ(*valueOf("saving_percent", training), 100 * 3.2 / 93);
  EXPECT_EQ(valueOf("updates", training), 1200);
  EXPECT_FALSE(valueOf("to_target_s", training)) << "it was not asked for";
  for (const char* name :
       {"eval_accuracy", "eval_accuracy_best", "eval_top5", "eval_top5_best", "eval_auc", "eval_auc_best", "eval_loss",
        "eval_loss_best", "epoch_training_s", "epoch_whole_s", "to_target_s", "idle_percent", "saving_percent"}) {
    EXPECT_FALSE(valueOf(name, fiveSteps())) << name;
  }
}

TEST(Metric, ATrainingWithoutEvaluationsAndCheckpointsHasNoFigureOfThem) {
  RunRecord record = exampleTraining();
  record.training->toTarget = millis(1500);
  EXPECT_EQ(valueOf("to_target_s", record), 1.5);
  record.training->evaluations[11].accuracy = record.training->evaluations[9].accuracy = std::nan("");
  EXPECT_FALSE(valueOf("eval_accuracy", record)) << "it is no number";
  EXPECT_DOUBLE_EQ(*valueOf("eval_accuracy_best", record), 1 - 0.5 / 9);
  record.training->evaluations.clear(), record.training->checkpoints = 0;
  for (const char* name : {"eval_accuracy", "eval_accuracy_best", "eval_loss", "idle_percent", "saving_percent"}) {
    EXPECT_FALSE(valueOf(name, record)) << name;
  }
  record.training->course.clear();
  EXPECT_FALSE(valueOf("epoch_training_s", record) || valueOf("epoch_whole_s", record));
}

TEST(TrainingCourse, GoesOnWhereTheLastEvaluationBeforeTheResumeEnded) {
  const auto parts = partsOf(exampleTraining());
  ASSERT_EQ(parts.size(), 8U);
  EXPECT_EQ(parts[0].firstStep, 400);
  EXPECT_EQ(parts[0].firstEpoch, 4);
  EXPECT_EQ(parts[0].begin, millis(45'500));
  EXPECT_EQ(parts[0].trained(), millis(55'500));
  EXPECT_EQ(parts[0].evaluated(), millis(56'500));
  EXPECT_EQ(parts[0].saved(), millis(56'900));
  EXPECT_EQ(parts[1].begin, millis(57'000));
  EXPECT_EQ(parts[1].firstStep, 500);
  EXPECT_EQ(parts[1].firstEpoch, 5);
  EXPECT_EQ(endOfStep(parts, 425), millis(45'500 + 2500));
  EXPECT_EQ(endOfStep(parts, 500), parts[0].trained());
  EXPECT_EQ(endOfStep(parts, 501), parts[1].begin + millis(100));
  EXPECT_EQ(endOfStep(parts, 5000), parts[7].trained());
  RunRecord fresh = exampleTraining();
  fresh.training->resumedAt = -1;
  EXPECT_EQ(partsOf(fresh).front().begin, Nanos{});
  EXPECT_EQ(partsOf(fresh).front().firstEpoch, 0);
  EXPECT_TRUE(partsOf(exampleRecord(1, "replicated", 100)).empty());
}

TEST(Metric, StalenessIsOfServersThatSayIt) {
  RunRecord record = fiveSteps();
  EXPECT_FALSE(valueOf("staleness", record).has_value());
  EXPECT_FALSE(valueOf("staleness_max", record).has_value());
  record.staleness = {22, 0.75, 3};
  EXPECT_EQ(valueOf("staleness", record), 0.75);
  EXPECT_EQ(valueOf("staleness_max", record), 3);
  EXPECT_EQ(valueOf("updates", record), 22) << "each rank's step is an update";
}

TEST(Metric, SkippedStepsAndTheScaleAreOfAScaledLossOnly) {
  RunRecord record = exampleRecord(1, "replicated", 100);
  EXPECT_FALSE(valueOf("skipped_steps", record).has_value());
  EXPECT_FALSE(valueOf("loss_scale", record).has_value());
  record.skippedSteps = 0, record.lossScale = 65536;
  EXPECT_EQ(valueOf("skipped_steps", record), 0);
  EXPECT_EQ(valueOf("loss_scale", record), 65536);
}

TEST(Metric, SpeedupAndEfficiencyCompareWithTheBaseline) {
  const RunRecord one = exampleRecord(1, "replicated", 100);  // 160 images/s
  const RunRecord two = exampleRecord(2, "replicated", 127);  // 32 images in 128 ms: 250 images/s
  EXPECT_DOUBLE_EQ(*valueOf("speedup", two, &one), 1.5625);
  EXPECT_DOUBLE_EQ(*valueOf("efficiency_percent", two, &one), 78.125);
  EXPECT_DOUBLE_EQ(*valueOf("efficiency_percent", one, &one), 100);
  EXPECT_FALSE(valueOf("speedup", two).has_value());
  EXPECT_FALSE(valueOf("efficiency_percent", two).has_value());
}

TEST(Metric, ErrorsOfTheChangeAreThoseOfTheStamp) {
  RunRecord record = exampleRecord(2, "replicated", 100);
  EXPECT_FALSE(valueOf("change_error", record)) << "not compared";
  record.equality = fullStamp();
  EXPECT_FALSE(valueOf("change_error", record)) << "a reason why not";
  record.equality->reason.clear();
  EXPECT_DOUBLE_EQ(*valueOf("change_error", record), 1e-3 / 3);
  EXPECT_DOUBLE_EQ(*valueOf("worst_change_error", record), 0.5);
  EXPECT_DOUBLE_EQ(*valueOf("plain_change_error", record), 0.02) << "in the precision of the run";
  EXPECT_DOUBLE_EQ(*valueOf("fp32_change_error", record), 1e-6 / 3);
  EXPECT_DOUBLE_EQ(*valueOf("replicas_difference", record), 1e-9);
  EXPECT_DOUBLE_EQ(*valueOf("verify_s", record), 0.25);
  record.equality->differenceOfReplicas = -1;
  EXPECT_FALSE(valueOf("replicas_difference", record)) << "one replica";
}

TEST(Metric, AFailedOrEmptyRunHasNoValues) {
  RunRecord failed = exampleRecord(2, "replicated", 100);
  failed.outcome = {OutcomeKind::failed, ExitCode::peer, "gone"};
  RunRecord skipped = failed;
  skipped.outcome.kind = OutcomeKind::skipped;
  for (const Metric& metric : metrics()) {
    EXPECT_FALSE(metric.of(failed, &failed).has_value()) << metric.name;
    EXPECT_FALSE(metric.of(skipped, nullptr).has_value()) << metric.name;
    const auto value = metric.of(RunRecord(), nullptr);
    EXPECT_TRUE(!value || std::isfinite(*value)) << metric.name;
  }
  for (const char* name : {"images_per_s", "step_mean_ms", "input_wait_percent", "peak_memory_mib", "wall_s"}) {
    EXPECT_FALSE(valueOf(name, RunRecord()).has_value()) << name;
  }
}

TEST(Metric, NamesAreUniqueAndTheDocumentGivesEachWithItsUnit) {
  std::ifstream file(testsFolder() + "/../docs/METRICS.md");
  std::stringstream text;
  text << file.rdbuf();
  std::set<std::string_view> names;
  for (const Metric& metric : metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    const std::string row =
        "| `" + std::string(metric.name) + "` | " + std::string(metric.unit) + (metric.unit.empty() ? "|" : " |");
    EXPECT_NE(text.str().find(row), std::string::npos) << "docs/METRICS.md lacks a row starting " << row;
  }
  EXPECT_THROW(metric("images"), UsageError);
}

}  // namespace
}  // namespace tandem

#include "run/training/resume.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "machine/process/process_clock.h"
#include "run/training/tiny_training.h"

namespace tandem {
namespace {

/// Trainings that end, and go on from their checkpoints.
using GoingOn = TinyTraining;

TEST_F(GoingOn, ThatHasReachedItsTargetDoesNotGoOn) {
  Config config = this->config(50);
  config.training.stopAt = "accuracy:0.05", config.training.checkpoint = path("checkpoints");
  const int64_t steps = ended(config).training->steps;
  config.training.resume = "auto";
  const RunRecord again = ended(config);
  EXPECT_EQ(again.training->steps, steps);
  EXPECT_EQ(again.training->ended, "stop-at");
  EXPECT_GT(again.training->toTarget.count(), 0);
  config.training.stopAt = "accuracy:1.0", config.training.epochs = 51, config.training.allowChanges = true;
  EXPECT_GT(ended(config).training->steps, steps) << "another target";
}

TEST_F(GoingOn, GoesOnWithAnEvaluationThatWasGivenUp) {
  Config config = this->config(1);
  config.training.checkpoint = path("checkpoints"), config.training.saveScores = path("scores.safetensors");
  config.training.maxTime = seconds(sinceProcessStart()) + 4;
  const auto waitUntilItsTimeIsOver = [&](const Progress& progress) {
    while (progress.phase == Phase::evaluating && seconds(sinceProcessStart()) < config.training.maxTime + 0.1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  const RunRecord record = runPoint(resolvePlan(config), waitUntilItsTimeIsOver);
  ASSERT_TRUE(record.training) << record.outcome.reason;
  EXPECT_EQ(record.training->steps, 10);
  EXPECT_EQ(record.training->ended, "max-time");
  EXPECT_TRUE(record.training->interrupted) << "the evaluation is still to be made";
  EXPECT_TRUE(record.training->evaluations.empty());
  EXPECT_FALSE(std::filesystem::exists(config.training.saveScores));
  EXPECT_NE(notesOf(record).find("the last evaluation was not made"), std::string::npos) << notesOf(record);
  config.training.maxTime = 0, config.training.resume = "always";
  const RunRecord resumed = ended(config);
  EXPECT_FALSE(resumed.training->interrupted);
  EXPECT_EQ(resumed.training->evaluations.size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(config.training.saveScores));
}

TEST_F(GoingOn, ResumedOnAnotherNumberOfReplicasItSaysSo) {
  Config config = this->config(1);
  config.training.checkpoint = path("checkpoints");
  ASSERT_EQ(run(config).outcome.kind, OutcomeKind::ok);
  config.placement.replicas = 2, config.training.epochs = 3;
  config.training.resume = "auto";
  const RunRecord refused = run(config);
  EXPECT_EQ(refused.outcome.code, ExitCode::checkpoint);
  EXPECT_NE(refused.outcome.reason.find("--replicas was 1, and is 2"), std::string::npos) << refused.outcome.reason;
  EXPECT_NE(refused.outcome.reason.find("--epochs was 1, and is 3"), std::string::npos) << refused.outcome.reason;
  config.training.allowChanges = true;
  const RunRecord record = run(config);
  ASSERT_TRUE(record.training) << record.outcome.reason;
  EXPECT_EQ(record.training->resumedAt, 5) << "an epoch, in updates of the new batch";
  EXPECT_EQ(record.training->steps, 15);
  EXPECT_NE(record.training->changed.find("--replicas was 1"), std::string::npos);
  EXPECT_NE(notesOf(record).find("not bit-equal"), std::string::npos) << notesOf(record);
  EXPECT_EQ(record.training->evaluations.size(), 3U) << "that of the first part too";
}

TEST_F(GoingOn, ResumedTwiceItSaysAllThatChanged) {
  Config config = this->config(1);
  config.training.checkpoint = path("checkpoints");
  ended(config);
  config.training.resume = "auto", config.training.epochs = 2;
  config.inference.normalization = "imagenet";
  const RunRecord refused = run(config);
  EXPECT_EQ(refused.outcome.code, ExitCode::checkpoint);
  EXPECT_NE(refused.outcome.reason.find("--normalization was "), std::string::npos) << refused.outcome.reason;
  config.training.allowChanges = true;
  ended(config);
  config.training.allowChanges = false;
  const std::string kept = ended(config).training->changed;
  EXPECT_NE(kept.find("--normalization was "), std::string::npos) << kept;
  config.training.allowChanges = true, config.step.learningRate = 0.02;
  const std::string both = ended(config).training->changed;
  EXPECT_EQ(both, concat(kept, "; --lr was 0.01, and is 0.02"));
}

TEST_F(GoingOn, ResumedWithChangesItRunsTheKernelsThatAreAskedFor) {
  Config config = this->config(1);
  config.training.checkpoint = path("checkpoints"), config.network.model = "resnet20";
  config.numerics.layout = "blocked";
  ended(config);
  config.training.resume = "auto", config.training.allowChanges = true, config.training.epochs = 2;
  config.numerics.layout = "nhwc";
  EXPECT_EQ(ended(config).placement.layout, "nhwc");
}

TEST_F(GoingOn, KeepsTheSharesThatWereMeasured) {
  Config config = this->config(1);
  config.training.checkpoint = path("checkpoints");
  config.placement.replicas = 2, config.measurement.scaling = "strong", config.step.split = "measured";
  config.step.batch = 8;
  ended(config);
  const std::string manifest = path("checkpoints/step-000000005/manifest.json");
  auto facts = nlohmann::json::parse(readFile(manifest, 1 << 20));
  facts["shares"] = {1, 7};
  std::ofstream(manifest) << facts;
  config.training.resume = "always";
  EXPECT_EQ(ended(config).placement.shares, (std::vector<int64_t>{1, 7}));
}

TEST_F(GoingOn, AFolderWithCheckpointsIsRefusedUnlessItIsResumed) {
  Config config = this->config(1);
  config.training.checkpoint = path("checkpoints");
  ASSERT_EQ(run(config).outcome.kind, OutcomeKind::ok);
  const RunRecord again = run(config);
  EXPECT_EQ(again.outcome.code, ExitCode::usage);
  EXPECT_NE(again.outcome.reason.find("--resume=auto goes on"), std::string::npos) << again.outcome.reason;
}

TEST_F(GoingOn, ThatIsOverIsResumedToItsEnd) {
  Config config = this->config(1);
  config.training.checkpoint = path("checkpoints");
  const std::string first = weightsOf(config);
  config.training.resume = "auto";
  EXPECT_EQ(weightsOf(config), first);
}

}  // namespace
}  // namespace tandem

// What a person who watches a training is shown: phases, the time between them, wrong predictions.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/text.h"
#include "formats/image/image.h"
#include "run/training/tiny_training.h"
#include "run/training/wrong_pictures.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

using WatchedTraining = TinyTraining;

TEST_F(WatchedTraining, WrongPredictionsAreTheSurestOfTheLastEvaluation) {
  Config config = this->config(2);
  config.training.wrongImages = 3;
  const RunRecord record = run(config);
  ASSERT_TRUE(record.training) << record.outcome.reason;
  EXPECT_TRUE(record.training->evaluations[0].wrong.empty());
  const auto& wrong = record.training->evaluations[1].wrong;
  ASSERT_EQ(wrong.size(), 3U);
  for (const WrongPrediction& each : wrong) {
    EXPECT_EQ(each.label, each.index % 10) << "as writeIdxImages() labels them";
    EXPECT_NE(each.label, each.predicted);
    EXPECT_NE(each.image.find(concat(each.index)), std::string::npos) << each.image;
    EXPECT_TRUE(each.score > 0.1 && each.score <= 1) << each.score;
    EXPECT_LE(each.score, wrong.front().score);
  }
  config.training.wrongImages = 0;
  EXPECT_TRUE(run(config).training->evaluations[1].wrong.empty());
}

TEST_F(WatchedTraining, ItsPhasesAreInTheTelemetry) {
  Config config = this->config(2);
  config.training.checkpoint = path("checkpoints");
  const RunRecord record = run(config);
  ASSERT_TRUE(record.training) << record.outcome.reason;
  std::vector<std::string> names;
  for (const TelemetryPhase& phase : record.telemetry.phases) names.push_back(phase.name);
  EXPECT_EQ(names, (std::vector<std::string>{"training", "test", "saving", "training", "test", "saving", "end"}));
  const auto& phases = record.telemetry.phases;
  EXPECT_GE(phases[1].begin - phases[0].begin, record.training->course[0].training);
  EXPECT_GE(phases[2].begin - phases[1].begin, record.training->evaluations[0].wall);
}

TEST_F(WatchedTraining, TheBestWeightsAreSavedInAPhaseToo) {
  Config config = this->config(2);
  config.training.checkpoint = path("checkpoints"), config.training.saveEvery = 0;
  const RunRecord record = run(config);
  ASSERT_TRUE(record.training) << record.outcome.reason;
  ASSERT_GE(record.telemetry.phases.size(), 4U);
  EXPECT_EQ(record.telemetry.phases[2].name, "saving") << "the first evaluation is the best so far";
  EXPECT_GT(record.training->course[0].saving, Nanos{});
}

TEST_F(WatchedTraining, TimeBetweenIsThatOfTheTrainingAlone) {
  Config config = this->config(1);
  config.training.checkpoint = path("checkpoints"), config.training.validateOn = Config::noSplit;
  ASSERT_EQ(run(config).outcome.reason, "");
  config.training.validateOn = std::string(Config::automatic), config.training.resume = "always";
  const RunRecord record = run(config);
  ASSERT_TRUE(record.training) << record.outcome.reason;
  ASSERT_EQ(record.training->evaluations.size(), 1U) << "that which was left out";
  EXPECT_GE(record.training->course.back().idle, Nanos{});
  EXPECT_LT(record.training->course.back().idle, record.wall);
}

TEST_F(WatchedTraining, PicturesOfWrongPredictionsAreTheImages) {
  Config config = this->config(1);
  config.training.wrongImages = 2;
  RunRecord record = run(config);
  ASSERT_TRUE(record.training) << record.outcome.reason;
  readWrongPictures(record);
  for (const WrongPrediction& wrong : record.training->evaluations.back().wrong) {
    const auto image = decodeImage(wrong.png);
    ASSERT_TRUE(image) << image.error().text;
    ASSERT_EQ(image.value().height, 28);
    ASSERT_EQ(image.value().pixels.size(), 28U * 28 * 3);
    for (size_t i = 0; i < 28 * 28; ++i) {
      ASSERT_EQ(image.value().pixels[3 * i], (static_cast<size_t>(wrong.index) * 28 * 28 + i) % 251) << i;
    }
  }
  fs::remove_all(folder_ / "data");
  EXPECT_THROW(readWrongPictures(record), DataError);
}

}  // namespace
}  // namespace tandem

#include "run/training/train_point.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/text.h"
#include "formats/io/checksum.h"
#include "formats/io/file.h"
#include "formats/weights/weights_file.h"
#include "run/training/checkpoint_folder.h"
#include "run/training/tiny_training.h"
#include "support/captured_warnings.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

using Training = TinyTraining;

TEST_F(Training, SaysWhatItDid) {
  const RunRecord record = run(config());
  ASSERT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
  ASSERT_TRUE(record.training);
  const TrainingRecord& training = *record.training;
  EXPECT_EQ(training.steps, 30) << "three times 40 images in batches of 4";
  EXPECT_EQ(training.epochs, 3);
  EXPECT_EQ(training.images, 40);
  EXPECT_EQ(training.ended, "");
  ASSERT_EQ(training.course.size(), 3U);
  ASSERT_EQ(training.evaluations.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(training.course[i].step, 10 * static_cast<int64_t>(i + 1));
    EXPECT_EQ(training.evaluations[i].step, training.course[i].step);
    EXPECT_EQ(training.evaluations[i].split, "test") << "the data set has no validation images";
    EXPECT_EQ(training.evaluations[i].images, 20);
    EXPECT_TRUE(std::isfinite(training.evaluations[i].loss));
  }
  EXPECT_TRUE(training.evaluations[1].confusion.empty()) << "that of the last evaluation is kept";
  ASSERT_EQ(training.evaluations[2].confusion.size(), 100U);
  EXPECT_EQ(
      std::accumulate(training.evaluations[2].confusion.begin(), training.evaluations[2].confusion.end(), int64_t{0}),
      20);
  EXPECT_GE(training.bestStep, 10);
  EXPECT_EQ(training.bestMetric, "accuracy");
  EXPECT_EQ(record.losses.size(), 30U);
  EXPECT_EQ(record.measuredSteps, 30);
  EXPECT_EQ(record.steps.size(), 30U);
  EXPECT_LE(record.window, record.wall);
}

TEST_F(Training, LossOfAPartIsTheMeanOfItsUpdates) {
  const RunRecord record = run(config(2));
  ASSERT_TRUE(record.training);
  double sum = 0;
  for (size_t i = 10; i < 20; ++i) sum += record.losses[i];
  EXPECT_NEAR(record.training->course[1].loss, sum / 10, 1e-12);
}

// An evaluation must not depend on who computes what: the same weights give the same figures, to the bit.
TEST_F(Training, AnEvaluationIsTheSameOnAnyNumberOfReplicas) {
  const auto evaluated = [&](int64_t replicas) {
    Config one = config(1);
    one.network.model = "lenet5";
    one.placement.replicas = replicas, one.placement.coresPerReplica = 1;
    one.step.learningRate = 1e-30;  // the weights stay what they are
    one.training.evalBatch = 6;     // 20 images do not fit evenly
    const RunRecord record = run(one);
    EXPECT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
    EvaluationRecord evaluation = record.training->evaluations.back();
    evaluation.at = evaluation.wall = {}, evaluation.step = 0, evaluation.epoch = 0;
    return evaluation;
  };
  const EvaluationRecord one = evaluated(1);
  EXPECT_EQ(one.images, 20);
  EXPECT_EQ(one, evaluated(2));
  EXPECT_EQ(one, evaluated(3));
}

TEST_F(Training, EvaluatingChangesNothing) {
  Config often = config(), never = config();
  often.network.model = never.network.model = "resnet20";  // with running statistics
  often.training.validateEvery = 0.5;
  never.training.validateOn = Config::noSplit;
  EXPECT_EQ(weightsOf(often), weightsOf(never));
}

TEST_F(Training, EndsWhereItIsToStop) {
  Config config = this->config(50);
  config.training.stopAt = "accuracy:0.05";
  const RunRecord record = run(config);
  ASSERT_TRUE(record.training) << record.outcome.reason;
  EXPECT_EQ(record.training->ended, "stop-at");
  EXPECT_LT(record.training->steps, 500);
  EXPECT_GE(record.training->evaluations.back().accuracy, 0.05);
  EXPECT_GT(record.training->toTarget.count(), 0);
}

TEST_F(Training, EndsWithACheckpointWhenItsTimeIsOver) {
  Config config = this->config(1'000'000);
  config.training.checkpoint = path("checkpoints");
  config.training.maxTime = 1e-3;
  const RunRecord record = run(config);
  ASSERT_TRUE(record.training) << record.outcome.reason;
  EXPECT_EQ(record.training->ended, "max-time");
  EXPECT_TRUE(record.training->interrupted);
  EXPECT_EQ(checkpointSteps(path("checkpoints")).back(), record.training->steps);
}

TEST_F(Training, ALossThatIsNotFiniteEndsIt) {
  Config config = this->config();
  config.step.learningRate = 1e30;
  const RunRecord record = run(config);
  EXPECT_EQ(record.outcome.code, ExitCode::numeric);
  EXPECT_NE(record.outcome.reason.find("is not finite"), std::string::npos) << record.outcome.reason;
}

TEST_F(Training, TrainingImagesAreEvaluatedOnRequestAndItIsSaid) {
  Config config = this->config(1);
  config.training.validateOn = "training";
  const RunRecord record = run(config);
  ASSERT_TRUE(record.training) << record.outcome.reason;
  EXPECT_EQ(record.training->evaluations.back().images, 40);
  EXPECT_NE(notesOf(record).find("evaluated on training data"), std::string::npos) << notesOf(record);
}

TEST_F(Training, SavesTheBestWeights) {
  Config config = this->config(2);
  config.training.checkpoint = path("checkpoints");
  config.output.saveWeights = path("last.safetensors");
  const RunRecord record = run(config);
  ASSERT_TRUE(record.training) << record.outcome.reason;
  const auto best = WeightsFile::open(path("checkpoints/best.safetensors"));
  const auto last = WeightsFile::open(path("last.safetensors"));
  ASSERT_EQ(best.tensors().size(), last.tensors().size());
  EXPECT_EQ(best.sha256() == last.sha256(), record.training->bestStep == record.training->steps);
}

struct ResumedCase {
  const char* name;
  void (*change)(Config&);
  double interruptedAt = 1.5;  ///< epochs
};

class ResumedTraining : public Training, public testing::WithParamInterface<ResumedCase> {};

TEST_P(ResumedTraining, EndsWithTheBitsOfAnUninterruptedOne) {
  Config config = this->config();
  GetParam().change(config);
  const std::string whole = weightsOf(config);
  EXPECT_EQ(weightsOfResumed(config, GetParam().interruptedAt), whole);
}

INSTANTIATE_TEST_SUITE_P(
    Each, ResumedTraining,
    testing::Values(
        ResumedCase{"momentum", [](Config&) {}},
        ResumedCase{"adam", [](Config& config) { config.step.optimizer = "adam"; }},
        ResumedCase{"bf16", [](Config& config) { config.numerics.precision = "bf16"; }},
        ResumedCase{"fp16", [](Config& config) { config.numerics.precision = "fp16"; }},
        ResumedCase{"two_replicas", [](Config& config) { config.placement.replicas = 2; }},
        ResumedCase{"shared",
                    [](Config& config) { config.placement.replicas = 2, config.exchange.allReduce = "shared"; }},
        ResumedCase{"parameter_server",
                    [](Config& config) {
                      config.placement.replicas = 2, config.exchange.strategy = "parameter_server";
                      config.step.optimizer = "adam";
                    }},
        ResumedCase{"mixup", [](Config& config) { config.step.mixup = 0.2; }},
        ResumedCase{"running_statistics", [](Config& config) { config.network.model = "resnet20"; }},
        ResumedCase{"dropout", [](Config& config) { config.network.model = "frameworks_cnn"; }},
        ResumedCase{"rmsprop", [](Config& config) { config.step.optimizer = "rmsprop"; }},
        ResumedCase{"lamb", [](Config& config) { config.step.optimizer = "lamb"; }},
        ResumedCase{"clipped_lars",
                    [](Config& config) {
                      config.step.optimizer = "lars", config.step.clipNorm = 1, config.step.decayed = "weights";
                    }},
        ResumedCase{"averaged", [](Config& config) { config.step.ema = 0.9, config.placement.replicas = 2; }},
        ResumedCase{"looking_ahead",
                    [](Config& config) {
                      config.step.lookahead = 4;
                      config.network.model = "resnet20", config.placement.replicas = 2;
                    }},
        ResumedCase{"falling",
                    [](Config& config) {
                      config.step.schedule = "piecewise", config.training.lrSteps = "1+2";
                      config.training.warmupEpochs = 0.5;
                    }},
        ResumedCase{"plateau", [](Config& config) { config.step.schedule = "plateau", config.training.patience = 0; },
                    2 /* an end is evaluated, and counts */},
        ResumedCase{"growing",
                    [](Config& config) {
                      config.network.model = "resnet20", config.placement.replicas = 2;
                      config.input.augment = "random_resized_crop+flip", config.training.trainSize = "16+24@1+32@2";
                    }},
        ResumedCase{"accumulated", [](Config& config) { config.step.accumulate = 2; }}),
    [](const auto& tested) { return tested.param.name; });

TEST_F(Training, AnAverageIsEvaluatedAndSavedAndTheWeightsGoOnWithoutIt) {
  const auto trained = [&](double ema, const std::string& name) {
    Config config = this->config(2);
    config.step.ema = ema, config.training.checkpoint = path(name);
    config.output.saveWeights = path(name + ".safetensors");
    const RunRecord record = run(config);
    EXPECT_EQ(record.outcome.reason, "");
    EXPECT_EQ(record.training->evaluations.back().averaged, ema > 0);
    return newestCheckpoint(path(name))->state;
  };
  const TrainingState plain = trained(0, "plain"), averaged = trained(0.9, "averaged");
  ASSERT_EQ(averaged.optimizer.size(), plain.optimizer.size() + 1);
  const auto saved = WeightsFile::open(path("averaged.safetensors"));
  for (size_t i = 0; i < plain.parameters.size(); ++i) {
    const auto& [name, values] = plain.parameters[i];
    EXPECT_TRUE(at::equal(values, averaged.parameters[i].second)) << name << ": an evaluation undoes what it exchanges";
    const at::Tensor average = averaged.optimizer.back()[i].second.contiguous();
    const auto file = std::ranges::find(saved.tensors(), name, &FileTensor::name);
    ASSERT_NE(file, saved.tensors().end()) << name;
    EXPECT_EQ(std::memcmp(file->bytes.data(), average.const_data_ptr(), average.nbytes()), 0) << name;
  }
}

TEST_F(Training, ClassesCountByTheirWeights) {
  const auto firstLoss = [&](const std::string& weights) {
    Config config = this->config(1);
    config.step.classWeights = weights;
    const RunRecord record = run(config);
    EXPECT_EQ(record.outcome.reason, "");
    return record.losses.empty() ? 0 : record.losses.front();
  };
  std::ofstream(path("twos.txt")) << "2\n2\n2\n2\n2\n2\n2\n2\n2\n2\n";
  EXPECT_NEAR(firstLoss(path("twos.txt")), 2 * firstLoss(""), 1e-5);
  EXPECT_EQ(firstLoss("balanced"), firstLoss("")) << "each class has four images";
  std::ofstream(path("few.txt")) << "2\n-1\n";
  Config config = this->config(1);
  config.step.classWeights = path("few.txt");
  EXPECT_NE(run(config).outcome.reason.find("line 2 is '-1', and must be a number above 0"), std::string::npos);
}

TEST_F(Training, ABodyThatIsFrozenStays) {
  Config config = this->config(1);
  config.network.model = "resnet20", config.output.saveWeights = path("before.safetensors");
  ASSERT_EQ(run(config).outcome.reason, "");
  config.network.weights = config.output.saveWeights, config.step.frozen = "body";
  config.output.saveWeights = path("after.safetensors");
  ASSERT_EQ(run(config).outcome.reason, "");
  const auto before = WeightsFile::open(config.network.weights), after = WeightsFile::open(config.output.saveWeights);
  int changed = 0;
  for (size_t i = 0; i < before.tensors().size(); ++i) {
    const FileTensor &a = before.tensors()[i], &b = after.tensors()[i];
    if (std::ranges::equal(a.bytes, b.bytes)) continue;
    ++changed;
    EXPECT_TRUE(a.name.starts_with("fc.")) << a.name;
  }
  EXPECT_EQ(changed, 2) << "weight and bias of the classifier";
}

TEST_F(Training, TheRateFallsWhereTheLossStays) {
  Config config = this->config(4);
  config.step.learningRate = 1e-30, config.step.schedule = "plateau";
  config.training.patience = 1, config.training.lrFactor = 0.5;
  const RunRecord record = run(config);
  ASSERT_TRUE(record.training) << record.outcome.reason;
  std::vector<double> rates;
  for (const EpochRecord& epoch : record.training->course) rates.push_back(epoch.rate / 1e-30);
  EXPECT_EQ(rates, (std::vector<double>{1, 1, 1, 0.5})) << "two evaluations after the first were not better";
}

// The rate grows from update to update, so the training goes back until its halves are small enough.
TEST_F(Training, GoesBackAfterALossThatIsNotFinite) {
  Config config = this->config(2);
  config.step.learningRate = 1e30, config.training.warmupEpochs = 100;
  config.training.checkpoint = path("checkpoints"), config.training.saveEvery = 0.1;
  config.training.onNan = "back";
  std::vector<std::string> lines;
  const RunRecord record = runPoint(resolvePlan(config), [&](const Progress& progress) {
    if (!progress.line.empty()) lines.push_back(progress.line);
  });
  EXPECT_EQ(record.outcome.code, ExitCode::numeric) << "three times are enough";
  EXPECT_EQ(std::ranges::count_if(lines, [](const std::string& line) { return line.find("went back") != line.npos; }),
            3);
}

TEST_F(Training, WhatFollowsEvaluationsNeedsThem) {
  for (void (*change)(Config&) : {+[](Config& config) { config.step.schedule = "plateau"; },
                                  +[](Config& config) { config.training.saveScores = "scores.safetensors"; }}) {
    Config config = this->config();
    config.training.validateOn = Config::noSplit;
    change(config);
    const RunRecord record = run(config);
    EXPECT_EQ(record.outcome.code, ExitCode::usage);
    EXPECT_NE(record.outcome.reason.find("needs an evaluation"), std::string::npos) << record.outcome.reason;
  }
}

TEST_F(Training, WhatItCannotDoIsRefused) {
  EXPECT_NE(reasonOf([](Config& config) { config.exchange.strategy = "independent"; }).find("--strategy=independent: "),
            std::string::npos);
  EXPECT_NE(reasonOf([](Config& config) { config.training.resume = "auto"; }).find("--resume=auto needs --checkpoint"),
            std::string::npos);
  EXPECT_EQ(reasonOf([](Config& config) { config.training.stopAt = "auc:0.9"; }),
            "--stop-at=auc:0.9: evaluations of 10 classes do not have it; valid: accuracy, top5, loss");
  EXPECT_EQ(reasonOf([](Config& config) { config.training.best = "auc"; }),
            "--best=auc: evaluations of 10 classes do not have it; valid: accuracy, top5, loss");
  EXPECT_NE(reasonOf([](Config& config) { config.exchange.checkDrift = 5; }).find("--check-drift=5: "),
            std::string::npos);
  EXPECT_NE(reasonOf([](Config& config) { config.training.stopAt = "beauty:1"; }).find("no metric is called so"),
            std::string::npos);
  EXPECT_NE(reasonOf([](Config& config) {
              config.training.stopAt = "loss:1", config.training.validateOn = Config::noSplit;
            }).find("needs an evaluation"),
            std::string::npos);
  EXPECT_NE(reasonOf([](Config& config) { config.training.whitenEpochs = 1; }).find("no whitening convolution"),
            std::string::npos);
  EXPECT_NE(reasonOf([](Config& config) {
              config.step.lookahead = 5, config.exchange.strategy = "parameter_server";
            }).find("--lookahead=5 with --strategy=parameter_server: the average lies on the server"),
            std::string::npos);
}

}  // namespace
}  // namespace tandem

#include "run/run_point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/text.h"
#include "data/dataset/dataset.h"
#include "kernels/conv/convolution.h"
#include "measure/validity/consistency_checks.h"
#include "models/model.h"
#include "run/measured_run.h"
#include "run/plan/replica_set_options.h"
#include "run/plan/select_kernels.h"
#include "run/ten_images.h"

namespace tandem {
namespace {

Config small() {
  Config config;
  config.network.model = "resnet20";
  config.step.batch = 4;
  config.placement.replicas = 2;
  config.placement.oversubscribe = true;
  config.measurement.warmup = std::string("2");
  config.measurement.steps = 6, config.measurement.verify = "off";
  config.step.learningRate = 0.01;
  return config;
}

RunRecord run(const Config& config) { return runPoint(resolvePlan(config), nullptr); }

std::string fingerprint(const RunRecord& record) {
  const auto note = std::find_if(record.notes.begin(), record.notes.end(),
                                 [](const std::string& text) { return text.starts_with("weights fnv1a64"); });
  return note == record.notes.end() ? "" : *note;
}

TEST(RunPoint, countsStepsSamplesAndLosses) {
  const RunRecord record = run(small());
  ASSERT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
  EXPECT_EQ(record.globalBatch, 8);
  EXPECT_EQ(record.measuredSteps, 6);
  EXPECT_EQ(record.warmup.steps, 2);
  EXPECT_EQ(record.steps.size(), 12U) << "six steps of two replicas";
  EXPECT_EQ(record.losses.size(), 8U) << "warm-up included";
  EXPECT_GT(record.startup.count(), 0);
  EXPECT_GE(record.wall, record.startup + record.warmup.wall + record.window);
  for (const StepSample& sample : record.steps) {
    EXPECT_GE(sample.wall, sample.input + sample.compute + sample.exposedComm);
  }
}

/// Counts the batches that its replica takes.
class CountedSource final : public BatchSource {
 public:
  CountedSource(std::unique_ptr<BatchSource> inner, int64_t& taken) : inner_(std::move(inner)), taken_(taken) {}
  bool next(Batch& out) override { return ++taken_, inner_->next(out); }

 private:
  std::unique_ptr<BatchSource> inner_;
  int64_t& taken_;
};

TEST(RunPoint, BatchesThatWaitedAreTakenBeforeTheWindow) {
  Config config = small();
  config.placement.replicas = 1;
  const RunPlan plan = resolvePlan(config);
  ReplicaSetOptions options = trainingOptions(plan, selectKernels(plan, *plan.graph));
  int64_t taken = 0;
  options.source = [make = options.source, &taken](int replica) {
    return std::make_unique<CountedSource>(make(replica), taken);
  };
  RunObserver watch(plan.cores, plan.cudaDevices, {});
  ReplicaSet team(options);
  MeasuredRun measured({.config = plan.config,
                        .globalBatch = plan.globalBatch,
                        .graph = plan.graph.get(),
                        .watch = &watch,
                        .waitingBatches = 5},
                       nullptr);
  team.run([&](ReplicaSet::Member& member) { measured.body(member); });
  RunRecord record;
  measured.fill(record);
  EXPECT_EQ(record.warmup.steps, 2);
  EXPECT_EQ(record.steps.size(), 6U);
  EXPECT_EQ(taken, 2 + 5 + 6);
}

// Bit for bit: the same losses, and the same weights after the last step.
TEST(RunPoint, aNetworkFileTrainsAsTheModelThatItHolds) {
  for (const auto& [model, imageSize] : {std::pair{"resnet20", 32}, {"googlenet", 64}, {"densenet40_k12", 32}}) {
    Config config = small();
    config.network.model = model, config.network.imageSize = imageSize;
    config.numerics.deterministic = true;
    config.measurement.steps = 2;
    const RunRecord own = run(config);
    config.network.model = testing::TempDir() + "run_point_test_" + model + ".json";
    std::ofstream(config.network.model) << modelText(model);
    const RunRecord read = run(config);
    ASSERT_EQ(own.outcome.kind, OutcomeKind::ok) << own.outcome.reason;
    ASSERT_EQ(read.outcome.kind, OutcomeKind::ok) << read.outcome.reason;
    EXPECT_EQ(read.losses, own.losses) << model;
    EXPECT_FALSE(fingerprint(own).empty());
    EXPECT_EQ(fingerprint(read), fingerprint(own)) << model;
    EXPECT_EQ(read.placement.network, model);
    EXPECT_EQ(read.placement.networkSha256.size(), 64U);
    EXPECT_EQ(read.placement.parameters, own.placement.parameters);
    EXPECT_TRUE(own.placement.networkSha256.empty());
  }
}

TEST(RunPoint, recordsTheHeadAndItsLoss) {
  Config config = small();
  config.network.head = "14xsigmoid";
  const RunRecord record = run(config);
  ASSERT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
  EXPECT_EQ(record.config.network.classes, 14);
  EXPECT_EQ(record.config.network.head, "sigmoid");
  EXPECT_EQ(record.placement.loss, "binary_cross_entropy");
  EXPECT_LT(record.losses.back(), record.losses.front());
}

TEST(RunPoint, everyStepOfAReplicaLiesInTheWindow) {
  const RunRecord record = run(small());
  for (int replica = 0; replica < 2; ++replica) {
    Nanos sum{};
    for (const StepSample& sample : record.steps) sum += sample.replica == replica ? sample.wall : Nanos{};
    EXPECT_LE(sum, record.window);
  }
}

TEST(RunPoint, warmupAutoIsBoundedByTheBudgetAndSaysSo) {
  Config config = small();
  config.measurement.warmup = "auto";
  config.measurement.budget = 1e-6;  // spent by the first step; the rule gets twelve all the same, twice what it needs
  const RunRecord record = run(config);
  EXPECT_GE(record.warmup.steps, 6);
  EXPECT_LE(record.warmup.steps, 12);
  EXPECT_TRUE(record.warmup.steady || record.warmup.steps == 12);
}

TEST(RunPoint, onlyASeveralReplicaRunWithoutExchangeIsAControl) {
  Config config = small();
  EXPECT_FALSE(run(config).placement.control);
  config.exchange.strategy = "independent";
  EXPECT_TRUE(run(config).placement.control);
  config.placement.replicas = 1;
  EXPECT_FALSE(run(config).placement.control);
}

TEST(RunPoint, recordsTheAlgorithmsOfConvolutionsWhereSomeChoseThem) {
  if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  Config config = small();
  config.numerics.convolution = "winograd";
  // Of 19 convolutions the first has three channels and no input gradient, two have a stride.
  EXPECT_EQ(run(config).placement.convolutionPasses, (std::map<std::string, int64_t>{{"direct", 8}, {"winograd", 48}}));
  config.numerics.convolution = "auto", config.numerics.layout = "nchw";
  EXPECT_TRUE(run(config).placement.convolutionPasses.empty()) << "ATen's convolutions";
}

// Sums of more terms, of which some are zeros, may be taken in another order.
TEST(RunPoint, trainsTheSameWithPaddedImages) {
  for (const char* input : {"device", "queue"}) {
    Config config = small();
    config.numerics.convolution = "direct", config.input.source = input;
    const RunRecord bare = run(config);
    EXPECT_EQ(bare.placement.zeroChannels, 0) << "nothing is measured on a CPU";
    for (const auto& [padding, zeros] : {std::pair{"4", 1}, {"8", 5}}) {
      config.numerics.padImages = padding;
      const RunRecord padded = run(config);
      ASSERT_EQ(padded.outcome.kind, OutcomeKind::ok) << padded.outcome.reason;
      EXPECT_EQ(padded.placement.zeroChannels, zeros);
      EXPECT_EQ(padded.placement.parameters, bare.placement.parameters);
      ASSERT_EQ(padded.losses.size(), bare.losses.size());
      for (size_t i = 0; i < bare.losses.size(); ++i) EXPECT_NEAR(padded.losses[i], bare.losses[i], 1e-3) << i;
    }
  }
}

// With a schedule that counts warm-up too, all steps of this window would be behind its end, at rate 0.
TEST(RunPoint, theScheduleBeginsWhereWarmUpEnds) {
  Config config = small();
  config.numerics.deterministic = true, config.step.schedule = "cosine";
  config.measurement.steps = 4, config.measurement.warmup = "0";
  const std::string without = fingerprint(run(config));
  config.measurement.warmup = "4";
  const RunRecord warmed = run(config);
  EXPECT_NE(fingerprint(warmed), without);
  // The loss of a step comes before its update: that of the first measured step is still at the rate given.
  config.step.schedule = "constant";
  const std::vector<double> constant = run(config).losses;
  ASSERT_EQ(warmed.losses.size(), 8U);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(warmed.losses[i], constant[i]) << "update " << i;
  EXPECT_NE(warmed.losses[6], constant[6]) << "the second measured step has another rate";
}

TEST(RunPoint, saysAfterHowManyUpdatesWeightsWereSaved) {
  Config config = small();
  config.output.saveWeights = testing::TempDir() + "run_point_test_updates.safetensors";
  const RunRecord record = run(config);
  EXPECT_EQ(std::ranges::count(record.notes, config.output.saveWeights + ": weights after 8 updates (2 of warm-up)"),
            1);
}

TEST(RunPoint, twoDeterministicRunsGiveBitEqualWeights) {
  for (const char* lossAt : {"replica", "gathered"}) {
    Config config = small();
    config.numerics.deterministic = true;
    config.exchange.lossAt = lossAt;
    const std::string first = fingerprint(run(config));
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(first, fingerprint(run(config)));
    config.step.seed = 2;
    EXPECT_NE(first, fingerprint(run(config)));
  }
}

TEST(RunPoint, forwardOnlyChangesNoWeightAndHasNoLoss) {
  Config config = small();
  config.step.forwardOnly = true;
  config.numerics.deterministic = true;
  const RunRecord few = run(config);
  ASSERT_EQ(few.outcome.kind, OutcomeKind::ok) << few.outcome.reason;
  EXPECT_TRUE(few.losses.empty());
  config.measurement.steps = 9;
  EXPECT_EQ(fingerprint(few), fingerprint(run(config)));
}

TEST(RunPoint, aLossThatLeavesTheNumbersIsANumericFailure) {
  Config config = small();
  config.step.learningRate = 1e30;
  const RunRecord record = run(config);
  EXPECT_EQ(record.outcome.kind, OutcomeKind::failed);
  EXPECT_EQ(record.outcome.code, ExitCode::numeric);
  EXPECT_NE(record.outcome.reason.find("at step"), std::string::npos) << record.outcome.reason;
}

Config inFp16() {
  Config config = small();
  config.network.model = "lenet5";
  config.numerics.precision = "fp16";
  return config;
}

bool hasNote(const RunRecord& record, std::string_view words) {
  return std::ranges::any_of(record.notes, [=](const auto& note) { return note.find(words) != std::string::npos; });
}

TEST(RunPoint, recordsWhatBecameOfAScaledLoss) {
  const RunRecord record = run(inFp16());
  ASSERT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
  ASSERT_GE(record.skippedSteps, 0);
  EXPECT_LT(record.skippedSteps, 8);
  EXPECT_EQ(record.lossScale, std::exp2(16.0 - static_cast<double>(record.skippedSteps)));
  EXPECT_EQ(hasNote(record, "updated nothing"), record.skippedSteps > 0);
  if (!convolutionLibrary().empty()) {
    EXPECT_TRUE(hasNote(record, "convolutions are ATen's: Tandem's own take no fp16"));
  }
  EXPECT_TRUE(record.placement.convolutionPasses.empty());
  const RunRecord unscaled = run(small());
  EXPECT_EQ(unscaled.skippedSteps, -1);
  EXPECT_EQ(unscaled.lossScale, 0);
}

TEST(RunPoint, aRunThatSkipsManyStepsSaysSo) {
  Config config = inFp16();
  config.step.learningRate = 1e30;  // the first update ends all learning: the losses are no numbers
  const RunRecord record = run(config);
  EXPECT_EQ(record.outcome.code, ExitCode::numeric);
  EXPECT_GE(record.skippedSteps, 6);
  EXPECT_TRUE(hasNote(record, concat(record.skippedSteps, " of 8 steps updated nothing")));
}

TEST(RunPoint, aScaleThatFallsToItsLeastIsANumericFailure) {
  Config config = inFp16();
  config.step.learningRate = 1e30, config.measurement.steps = 40;
  const RunRecord record = run(config);
  EXPECT_EQ(record.outcome.kind, OutcomeKind::failed);
  EXPECT_EQ(record.outcome.code, ExitCode::numeric);
  EXPECT_TRUE(record.outcome.reason.starts_with("the loss scale fell to 1, its least")) << record.outcome.reason;
}

TEST(RunPoint, everyInputGivesTheStatedNumberOfSteps) {
  for (const char* input : {"device", "host", "queue"}) {
    Config config = small();
    config.input.source = input;
    const RunRecord record = run(config);
    EXPECT_EQ(record.outcome.kind, OutcomeKind::ok) << input << ": " << record.outcome.reason;
    EXPECT_EQ(record.steps.size(), 12U) << input;
  }
}

TEST(RunPoint, recordsWhatTheImagesWereAndWhatChangedThem) {
  for (const char* lossAt : {"replica", "gathered"}) {
    Config config = small();
    config.exchange.lossAt = lossAt;
    const RunRecord synthetic = run(config);
    EXPECT_EQ(synthetic.placement.data, "synthetic") << lossAt;
    EXPECT_EQ(synthetic.placement.augment, "") << lossAt;
    config.input.data = tenImages();
    for (const char* augment : {"standard", "none"}) {
      config.input.augment = augment;
      const RunRecord real = run(config);
      ASSERT_EQ(real.outcome.kind, OutcomeKind::ok) << real.outcome.reason;
      EXPECT_EQ(real.placement.data, "idx") << lossAt;
      EXPECT_EQ(real.placement.augment, augment) << lossAt;
      const Normalization used = openDataset(tenImages())->info().normalization;
      EXPECT_EQ(real.placement.imageMean, std::vector<double>(used.mean.begin(), used.mean.end()));
      EXPECT_EQ(real.placement.imageDeviation, std::vector<double>(used.deviation.begin(), used.deviation.end()));
      EXPECT_TRUE(doubts(real).empty()) << doubts(real).front();
    }
  }
}

}  // namespace
}  // namespace tandem

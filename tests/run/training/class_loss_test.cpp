// --loss=bce.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/text.h"
#include "run/plan/plan_refusal.h"
#include "run/run_point.h"
#include "run/tiny_config.h"
#include "support/idx_images.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

void expectPart(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(ClassLoss, IsRefusedWhereTheHeadHasAnother) {
  Config config = tiny();
  config.step.loss = "bce";
  EXPECT_EQ(refusalOf(config), "");
  config.network.head = "softmax";
  EXPECT_EQ(refusalOf(config), "");
  config.network.head = "sigmoid";
  EXPECT_EQ(
      refusalOf(config),
      "--loss=bce is a loss of --head=softmax, and the network has binary_cross_entropy; leave --loss away, or give "
      "another --head");
  config.network.head = "auto", config.network.model = "ssd300";
  config.network.imageSize = 0;
  EXPECT_EQ(
      refusalOf(config),
      "--loss=bce is a loss of --head=softmax, and the network has multibox, which has no other form; leave --loss "
      "away");
}

TEST(ClassLoss, AThresholdIsForOneThatReadsIt) {
  Config config = tiny();
  config.step.bceThreshold = 0.2;
  EXPECT_EQ(refusalOf(config),
            "--bce-threshold=0.2 does nothing with softmax_cross_entropy, the loss of this network; only --loss=bce "
            "uses it");
  config.step.loss = "cross_entropy";
  expectPart(refusalOf(config), "does nothing with softmax_cross_entropy");
  config.step.loss = "bce";
  EXPECT_EQ(refusalOf(config), "");
}

/// One epoch in which the weights stay what they are, on 40 images.
RunRecord judged(void (*change)(Config&)) {
  const fs::path folder = fs::path(testing::TempDir()) / "class_loss";
  Config config = tiny();
  config.input.data = writeIdxImages(folder, 40);
  writeIdxImages(folder, 20, 0, "t10k");
  config.network.model = "lenet5";
  config.training.epochs = 1, config.step.learningRate = 1e-30;
  change(config);
  RunRecord record = runPoint(resolvePlan(config), nullptr);
  EXPECT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
  return record;
}

TEST(ClassLoss, IsTrainedAndCrossEntropyIsEvaluated) {
  const RunRecord usual = judged([](Config&) {}), bce = judged([](Config&config) { config.step.loss = "bce"; });
  EXPECT_EQ(usual.placement.loss, "softmax_cross_entropy");
  EXPECT_EQ(bce.placement.loss, "one_hot_binary_cross_entropy");
  EXPECT_NEAR(usual.losses.front(), std::log(10.0), 1) << "outputs of an untrained network are small";
  EXPECT_NEAR(bce.losses.front(), std::log(2.0), 0.6);
  ASSERT_TRUE(usual.training && bce.training);
  EXPECT_EQ(bce.training->evaluations.back().loss, usual.training->evaluations.back().loss);
  EXPECT_EQ(bce.training->evaluations.back().accuracy, usual.training->evaluations.back().accuracy);
}

TEST(ClassLoss, TargetsAreComparedAfterTheyAreMixed) {
  const RunRecord all = judged([](Config& config) { config.step.loss = "bce", config.step.cutmix = 1; });
  const RunRecord either =
      judged([](Config& config) { config.step.loss = "bce", config.step.cutmix = 1, config.step.bceThreshold = 0; });
  const RunRecord halves =
      judged([](Config& config) { config.step.loss = "bce", config.step.cutmix = 1, config.step.bceThreshold = 0.5; });
  EXPECT_NE(all.losses, either.losses);
  EXPECT_NE(all.losses, halves.losses);
  EXPECT_NE(either.losses, halves.losses) << "both classes of a pair, or the larger one";
}

}  // namespace
}  // namespace tandem

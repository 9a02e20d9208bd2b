// --loss=bce.
#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "run/plan/plan_refusal.h"
#include "run/training/tiny_training.h"

namespace tandem {
namespace {

void expectPart(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(ClassLoss, IsRefusedWhereTheHeadHasAnother) {
  Config config = tinyConfig();
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
  Config config = tinyConfig();
  config.step.bceThreshold = 0.2;
  EXPECT_EQ(refusalOf(config),
            "--bce-threshold=0.2 does nothing with softmax_cross_entropy, the loss of this network; only --loss=bce "
            "uses it");
  config.step.loss = "cross_entropy";
  expectPart(refusalOf(config), "does nothing with softmax_cross_entropy");
  config.step.loss = "bce";
  EXPECT_EQ(refusalOf(config), "");
}

/// Trainings in which the weights stay what they are.
class ClassLossTraining : public TinyTraining {
 protected:
  RunRecord judged(void (*change)(Config&)) const {
    Config config = this->config(1);
    config.network.model = "lenet5", config.step.learningRate = 1e-30;
    change(config);
    return ended(config);
  }
};

TEST_F(ClassLossTraining, IsTrainedAndCrossEntropyIsEvaluated) {
  const RunRecord usual = judged([](Config&) {}), bce = judged([](Config&config) { config.step.loss = "bce"; });
  EXPECT_EQ(usual.placement.loss, "softmax_cross_entropy");
  EXPECT_EQ(bce.placement.loss, "one_hot_binary_cross_entropy");
  EXPECT_NEAR(usual.losses.front(), std::log(10.0), 1) << "outputs of an untrained network are small";
  EXPECT_NEAR(bce.losses.front(), std::log(2.0), 0.6);
  EXPECT_GT(10 * bce.losses.front(), usual.losses.front()) << "ten binary losses are more than the cross-entropy";
  ASSERT_TRUE(usual.training && bce.training);
  EXPECT_EQ(bce.training->evaluations.back().loss, usual.training->evaluations.back().loss);
  EXPECT_EQ(bce.training->evaluations.back().accuracy, usual.training->evaluations.back().accuracy);
}

TEST_F(ClassLossTraining, TargetsAreComparedAfterTheyAreMixed) {
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

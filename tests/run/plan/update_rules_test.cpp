#include <gtest/gtest.h>

#include "config/command_line.h"
#include "config/example_catalogs.h"
#include "run/plan/rules.h"

namespace tandem {
namespace {

using Texts = std::vector<std::string>;

std::string refusalOf(const std::string& command, const Texts& arguments) {
  const Sweep sweep = parseArguments(command, arguments, exampleCatalogs());
  return usageErrorOf([&] { checkSetup(sweep.base, setupOf(sweep.base)); });
}

std::string refusal(const Texts& arguments) { return refusalOf("bench", arguments); }
std::string trainRefusal(Texts arguments) {
  arguments.emplace_back("--epochs=2");
  return refusalOf("train", arguments);
}

void expectPart(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(UpdateRules, ASchedulesEndIsKnown) {
  expectPart(refusal({"--schedule=cosine"}), "needs --steps");
  expectPart(refusal({"--schedule=one-cycle"}), "needs --steps");
  EXPECT_EQ(refusal({"--schedule=polynomial", "--steps=10"}), "accepted");
  EXPECT_EQ(trainRefusal({"--schedule=polynomial"}), "accepted");
}

TEST(UpdateRules, EpochsAreCountedInTrainings) {
  expectPart(refusal({"--schedule=plateau", "--steps=10"}), "--schedule=plateau needs --epochs");
  expectPart(refusal({"--schedule=piecewise"}), "use it in tandem train");
  EXPECT_EQ(trainRefusal({"--schedule=plateau"}), "accepted");
  EXPECT_EQ(trainRefusal({"--schedule=piecewise", "--lr-steps=1+1.5"}), "accepted");
}

TEST(UpdateRules, TheCourseIsThatOfTheSchedule) {
  expectPart(trainRefusal({"--schedule=piecewise"}), "needs --lr-steps, the epochs at which the rate falls");
  expectPart(trainRefusal({"--lr-steps=1"}), "--lr-steps does nothing with --schedule=constant; only ");
  expectPart(trainRefusal({"--schedule=cosine", "--lr-factor=0.5"}), "only --schedule=piecewise and plateau use it");
  expectPart(trainRefusal({"--schedule=cosine", "--lr-power=2"}), "only --schedule=polynomial use it");
  expectPart(trainRefusal({"--schedule=plateau", "--lr-end=0.1"}), "--lr-end does nothing with --schedule=plateau");
  expectPart(trainRefusal({"--schedule=one-cycle", "--patience=2"}), "only --schedule=plateau use it");
  EXPECT_EQ(trainRefusal({"--schedule=plateau", "--patience=2", "--lr-factor=0.5"}), "accepted");
}

TEST(UpdateRules, CoefficientsAreThoseOfTheOptimizer) {
  expectPart(refusal({"--optimizer=rmsprop", "--nesterov"}), "only --optimizer=sgd use it");
  expectPart(refusal({"--optimizer=lamb", "--momentum=0.5"}), "only --optimizer=sgd, rmsprop and lars use it");
  expectPart(refusal({"--rmsprop-decay=0.5"}), "only --optimizer=rmsprop use it");
  expectPart(refusal({"--optimizer=lamb", "--trust=0.5"}), "only --optimizer=lars use it");
  EXPECT_EQ(refusal({"--optimizer=rmsprop", "--rmsprop-decay=0.5", "--adam-epsilon=1", "--momentum=0"}), "accepted");
  EXPECT_EQ(refusal({"--optimizer=lars", "--trust=0.5", "--momentum=0.5"}), "accepted");
  EXPECT_EQ(refusal({"--optimizer=lamb", "--adam-epsilon=1e-6", "--adam-beta2=0.9"}), "accepted");
}

TEST(UpdateRules, NormsAndAveragesAreOfOneTraining) {
  expectPart(refusal({"--clip-norm=1", "--strategy=parameter_server"}),
             "use --strategy=replicated, local_sgd, compressed and independent");
  EXPECT_EQ(refusal({"--clip-norm=1"}), "accepted");
  EXPECT_EQ(refusal({"--clip-norm=1", "--strategy=compressed"}), "accepted");
  expectPart(refusal({"--ema=0.9", "--strategy=local_sgd"}), "each replica would average its own weights");
  EXPECT_EQ(refusal({"--ema=0.9", "--strategy=parameter_server"}), "accepted");
  expectPart(refusal({"--lookahead=5", "--strategy=local_sgd"}),
             "--lookahead=5 with --strategy=local_sgd: each replica");
  expectPart(refusal({"--lookahead=5", "--ema=0.9"}), "leave one of them out");
}

TEST(UpdateRules, LookaheadHasItsOptions) {
  expectPart(refusal({"--lookahead-decay=0.9"}), "--lookahead-decay needs --lookahead=N");
  expectPart(refusal({"--lookahead-power=3"}), "--lookahead-power needs --lookahead=N");
  expectPart(refusal({"--lookahead=5", "--lookahead-power=3"}), "needs --steps");
  EXPECT_EQ(refusal({"--lookahead=5", "--lookahead-decay=0.8", "--lookahead-power=3", "--steps=100"}), "accepted");
  const Sweep sweep = parseArguments(
      "bench", Texts{"--lookahead=5", "--lookahead-decay=0.8", "--lookahead-power=3", "--shift-rate=64", "--steps=100"},
      exampleCatalogs());
  const OptimizerOptions options = optimizerOptions(sweep.base, setupOf(sweep.base));
  EXPECT_EQ(options.average.every, 5);
  EXPECT_TRUE(options.average.leads);
  EXPECT_EQ(options.average.decay, 0.8);
  EXPECT_EQ(options.average.power, 3);
  EXPECT_EQ(options.shiftRate, 64);
  EXPECT_EQ(options.course.totalSteps, 100);
}

TEST(UpdateRules, AFrozenBodyHasWeights) {
  expectPart(refusal({"--frozen=body"}), "give --weights=FILE");
  EXPECT_EQ(refusal({"--frozen=body", "--weights=a.safetensors"}), "accepted");
}

TEST(UpdateRules, OptionsReachTheOptimizer) {
  const Sweep sweep = parseArguments(
      "bench",
      Texts{"--optimizer=lars", "--trust=0.5", "--clip-norm=3", "--ema=0.9", "--decayed=weights", "--frozen=body"},
      exampleCatalogs());
  const OptimizerOptions options = optimizerOptions(sweep.base, setupOf(sweep.base));
  EXPECT_EQ(options.trust, 0.5);
  EXPECT_EQ(options.clipNorm, 3);
  EXPECT_EQ(options.average.decay, 0.9);
  EXPECT_TRUE(options.decaysWeightsAlone);
  EXPECT_TRUE(options.trainsHeadAlone);
  EXPECT_EQ(ruleOf(options).name, "lars");
}

}  // namespace
}  // namespace tandem

#include <gtest/gtest.h>

#include "config/command_line.h"
#include "example_catalogs.h"

namespace tandem {
namespace {

using Texts = std::vector<std::string>;

std::string refusal(const Texts& arguments) {
  const Sweep sweep = parseArguments("bench", arguments, exampleCatalogs());
  return usageErrorOf([&] { checkCombination(sweep.base); });
}

void expectRefused(const Texts& arguments, const std::string& part) {
  EXPECT_NE(refusal(arguments).find(part), std::string::npos) << join(arguments, " ") << ": " << refusal(arguments);
}

TEST(Combination, HeadAgreesWithClasses) {
  expectRefused({"--head=14xsigmoid", "--classes=10"}, "one says 14 classes, the other 10");
  EXPECT_EQ(refusal({"--head=14xsigmoid", "--classes=14"}), "accepted");
  EXPECT_EQ(refusal({"--head=sigmoid", "--classes=10"}), "accepted");
  EXPECT_EQ(refusal({"--head=14xsigmoid"}), "accepted");
}

TEST(Combination, ReplicasMatchTheDevices) {
  for (const char* kind : {"cuda", "cpu"}) {
    const std::string two = concat("--devices=", kind, ":0+2");
    for (const char* other : {"--replicas=3", "--replicas=1"}) expectRefused({two, other}, "2 replicas are meant");
    EXPECT_EQ(refusal({two, "--replicas=2"}), "accepted");
    EXPECT_EQ(refusal({two}), "accepted");
    EXPECT_EQ(refusal({concat("--devices=", kind), "--replicas=3"}), "accepted");
  }
}

TEST(Combination, TrainingOptionsFitTogether) {
  expectRefused({"--nesterov", "--momentum=0"}, "needs --momentum above 0");
  EXPECT_EQ(refusal({"--nesterov"}), "accepted");
  expectRefused({"--recompute=norm", "--forward-only"}, "without backward nothing is kept");
  EXPECT_EQ(refusal({"--recompute=norm"}), "accepted");
  expectRefused({"--sync-batch-norm", "--forward-only"}, "forward alone reads running statistics");
  expectRefused({"--mixup=0.2", "--forward-only"}, "--mixup=0.2 with --forward-only: nothing is trained");
  EXPECT_EQ(refusal({"--mixup=0.2", "--cutmix=1"}), "accepted");
}

TEST(Combination, OnlyAGpuHasStepsInFlight) {
  expectRefused({"--in-flight=4"}, "--in-flight=4 does nothing with --devices=cpu");
  EXPECT_EQ(refusal({"--in-flight=4", "--devices=cuda:0"}), "accepted");
  expectRefused({"--trace=a.pftrace"}, "needs --profile");
  expectRefused({"--trace=a.pftrace", "--profile", "--compare"}, "with --compare");
  EXPECT_EQ(refusal({"--trace=a.pftrace", "--profile"}), "accepted");
}

TEST(Combination, ASplitIsOfADataSet) {
  expectRefused({"--data-split=validation"}, "--data-split=validation needs --data");
  EXPECT_EQ(refusal({"--data-split=validation", "--data=/data"}), "accepted");
  EXPECT_EQ(refusal({"--data-split=auto"}), "accepted");
}

TEST(Combination, OptionsOnWeightsNeedWeights) {
  expectRefused({"--weights-map=timm"}, "--weights-map=timm needs --weights");
  expectRefused({"--reset-head"}, "--reset-head needs --weights");
  expectRefused({"--reject-nonfinite"}, "--reject-nonfinite needs --weights");
  EXPECT_EQ(refusal({"--weights=w.pth", "--weights-map=timm", "--reset-head", "--reject-nonfinite"}), "accepted");
  expectRefused({"--save-weights=a.safetensors", "--forward-only"}, "nothing is trained");
  EXPECT_EQ(refusal({"--save-weights=a.safetensors"}), "accepted");
}

}  // namespace
}  // namespace tandem

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

TEST(Combination, ParameterDeviceNeedsTheServer) {
  expectRefused({"--parameter-device=device", "--strategy=independent"}, "only --strategy=parameter_server uses it");
  expectRefused({"--parameter-device=device"}, "only --strategy=parameter_server uses it");
  EXPECT_EQ(refusal({"--parameter-device=device", "--strategy=parameter_server"}), "accepted");
}

TEST(Combination, AllReduceNeedsReplicated) {
  expectRefused({"--all-reduce=ring", "--strategy=parameter_server"}, "only --strategy=replicated uses it");
  EXPECT_EQ(refusal({"--all-reduce=ring"}), "accepted");
}

TEST(Combination, OnlyAnExchangeOverlaps) {
  expectRefused({"--overlap=off", "--strategy=independent"}, "--overlap=off does nothing with --strategy=independent");
  expectRefused({"--overlap=off", "--forward-only"}, "--overlap=off with --forward-only");
  EXPECT_EQ(refusal({"--overlap=on", "--strategy=independent", "--forward-only"}), "accepted");
  for (const char* strategy : {"replicated", "parameter_server"}) {
    EXPECT_EQ(refusal({"--overlap=off", concat("--strategy=", strategy)}), "accepted") << strategy;
  }
}

TEST(Combination, ASearchedBatchIsPerReplica) {
  expectRefused({"--batch=max", "--scaling=strong"}, "use --scaling=weak, or give a number");
  EXPECT_EQ(refusal({"--batch=max"}), "accepted");
  EXPECT_EQ(refusal({"--batch=32", "--scaling=strong"}), "accepted");
}

TEST(Combination, HeadAgreesWithClasses) {
  expectRefused({"--head=14xsigmoid", "--classes=10"}, "one says 14 classes, the other 10");
  EXPECT_EQ(refusal({"--head=14xsigmoid", "--classes=14"}), "accepted");
  EXPECT_EQ(refusal({"--head=sigmoid", "--classes=10"}), "accepted");
  EXPECT_EQ(refusal({"--head=14xsigmoid"}), "accepted");
}

TEST(Combination, AllReduceFitsTheDevices) {
  expectRefused({"--all-reduce=nccl"}, "--devices is cpu");
  EXPECT_EQ(refusal({"--all-reduce=nccl", "--devices=cuda:0+1"}), "accepted");
  EXPECT_EQ(refusal({"--all-reduce=copy", "--devices=cuda:0+1"}), "accepted");
  EXPECT_EQ(refusal({"--strategy=parameter_server", "--devices=cuda:0"}), "accepted");
}

TEST(Combination, ReplicasMatchTheGpus) {
  expectRefused({"--devices=cuda:0+1", "--replicas=3", "--all-reduce=nccl"}, "2 replicas are meant");
  EXPECT_EQ(refusal({"--devices=cuda:0+1", "--replicas=2", "--all-reduce=nccl"}), "accepted");
}

TEST(Combination, ParameterDeviceNamesAReplica) {
  const std::string server = "--strategy=parameter_server";
  expectRefused({server, "--parameter-device=cpu:2", "--replicas=2"}, "no device of this run");
  expectRefused({server, "--parameter-device=cuda:0"}, "no device of this run");
  expectRefused({server, "--parameter-device=cuda:1", "--devices=cuda:0+2"}, "no device of this run");
  expectRefused({server, "--parameter-device=cpu:0", "--devices=cuda:0+2"}, "no device of this run");
  EXPECT_EQ(refusal({server, "--parameter-device=cpu:1", "--replicas=2"}), "accepted");
  EXPECT_EQ(refusal({server, "--parameter-device=cuda:2", "--devices=cuda:0+2"}), "accepted");
}

TEST(Combination, TrainingOptionsFitTogether) {
  expectRefused({"--input=device", "--data=x"}, "cannot read --data=x");
  EXPECT_EQ(refusal({"--input=queue", "--data=x"}), "accepted");
  expectRefused({"--nesterov", "--momentum=0"}, "needs --momentum above 0");
  EXPECT_EQ(refusal({"--nesterov"}), "accepted");
  expectRefused({"--optimizer=adam", "--nesterov"}, "only --optimizer=sgd");
  expectRefused({"--optimizer=adamw", "--momentum=0"}, "--momentum does nothing with --optimizer=adamw");
  expectRefused({"--adam-beta1=0.8"}, "--adam-beta1 does nothing with --optimizer=sgd");
  expectRefused({"--adam-beta2=0.8"}, "--adam-beta2");
  expectRefused({"--adam-epsilon=0.8"}, "--adam-epsilon");
  EXPECT_EQ(refusal({"--optimizer=adam"}), "accepted");
  EXPECT_EQ(refusal({"--optimizer=adamw", "--adam-beta1=0.8", "--adam-beta2=0.9", "--adam-epsilon=1"}), "accepted");
  expectRefused({"--loss-at=gathered", "--forward-only"}, "--forward-only");
  expectRefused({"--loss-at=gathered", "--accumulate=2"}, "--accumulate=2");
  EXPECT_EQ(refusal({"--loss-at=gathered"}), "accepted");
  expectRefused({"--recompute=norm", "--executor=autograd"}, "only --executor=planned computes activations again");
  expectRefused({"--recompute=norm", "--forward-only"}, "without backward nothing is kept");
  EXPECT_EQ(refusal({"--recompute=norm"}), "accepted");
  expectRefused({"--pad-images=4", "--executor=autograd"}, "only --executor=planned pads images");
  EXPECT_EQ(refusal({"--pad-images=none", "--executor=autograd"}), "accepted");
  EXPECT_EQ(refusal({"--pad-images=4"}), "accepted");
}

TEST(Combination, OnlyAGpuHasStepsInFlight) {
  expectRefused({"--in-flight=4"}, "--in-flight=4 does nothing with --devices=cpu");
  EXPECT_EQ(refusal({"--in-flight=4", "--devices=cuda:0"}), "accepted");
  expectRefused({"--trace=a.pftrace"}, "needs --profile");
  expectRefused({"--trace=a.pftrace", "--profile", "--compare"}, "with --compare");
  EXPECT_EQ(refusal({"--trace=a.pftrace", "--profile"}), "accepted");
  expectRefused({"--schedule=cosine"}, "needs --steps");
  expectRefused({"--schedule=warmup-cosine"}, "needs --steps");
  EXPECT_EQ(refusal({"--schedule=cosine", "--steps=10"}), "accepted");
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

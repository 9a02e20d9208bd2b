#include "run/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/catalog.h"
#include "base/error.h"
#include "device/device.h"
#include "machine/cpu/topology.h"
#include "models/model.h"
#include "run/plan/plan_refusal.h"
#include "run/ten_images.h"
#include "run/tiny_config.h"

namespace tandem {
namespace {

TEST(Plan, EveryAutomaticValueIsResolved) {
  auto config = tinyConfig();
  config.network.imageSize = 0;
  const auto plan = resolvePlan(config);
  EXPECT_EQ(plan.config.input.source, "device");
  EXPECT_GT(plan.config.network.classes, 0);
  EXPECT_GT(plan.config.network.imageSize, 0);
  EXPECT_GE(plan.config.placement.coresPerReplica, 1);
  EXPECT_EQ(plan.globalBatch, 4);
  EXPECT_GT(plan.parameters, 0);
  EXPECT_GT(plan.forwardFlopsPerImage, 0);
  EXPECT_EQ(plan.deviceLabels.size(), 1U);
  EXPECT_TRUE(plan.cudaDevices.empty());
}

TEST(Plan, APrecisionThatTheDeviceDoesNotServeIsRefused) {
  auto config = tinyConfig();
  config.numerics.precision = "tf32";
  EXPECT_EQ(refusalOf(config),
            "--precision=tf32 with --devices=cpu: tf32 needs a GPU of compute capability 8.0 or higher, this is a CPU; "
            "use --precision=fp32 or bf16 or fp16");
  config.numerics.precision = "fp16";
  EXPECT_EQ(refusalOf(config), "");
  EXPECT_NE(planText(resolvePlan(config)).find("loss at replica, scaled from 65536"), std::string::npos);
}

TEST(Plan, Fp16HasNoKernelsToChooseFrom) {
  for (const auto& [option, value] :
       {std::pair{&Config::Numerics::layout, "blocked"}, {&Config::Numerics::convolution, "winograd"}}) {
    auto config = tinyConfig();
    config.numerics.precision = "fp16";
    config.numerics.*option = value;
    EXPECT_NE(refusalOf(config).find(" --precision=fp16: it needs --executor=planned, --devices=cpu"),
              std::string::npos)
        << refusalOf(config);
  }
}

TEST(Plan, ImagesArePaddedForConvolutionsAlone) {
  auto config = tinyConfig();
  config.numerics.padImages = "8";
  EXPECT_NE(refusalOf(config).find("--pad-images=8 with --model=trivial: its images are read by something else"),
            std::string::npos)
      << refusalOf(config);
  config.numerics.padImages = "none";
  EXPECT_EQ(refusalOf(config), "");
  config.network.model = "resnet20", config.numerics.padImages = "8";
  EXPECT_EQ(refusalOf(config), "");
  config.numerics.padImages = "7";
  EXPECT_NE(refusalOf(config).find("--pad-images"), std::string::npos) << refusalOf(config);
}

TEST(Plan, ReplicasShareTheUsableCores) {
  const auto cores = static_cast<int64_t>(readTopology().cores.size());
  for (const int64_t replicas : {int64_t{1}, cores, 2 * cores}) {
    auto config = tinyConfig();
    config.placement.replicas = replicas;
    EXPECT_EQ(resolvePlan(config).config.placement.coresPerReplica, std::max<int64_t>(1, cores / replicas));
    config.placement.coresPerReplica = 1;
    EXPECT_EQ(resolvePlan(config).config.placement.coresPerReplica, 1);
  }
}

TEST(Plan, WeakScalingKeepsTheBatchOfAReplica) {
  auto config = tinyConfig();
  config.placement.replicas = 2;
  const auto plan = resolvePlan(config);
  EXPECT_EQ(plan.replicaBatch, 4);
  EXPECT_EQ(plan.globalBatch, 8);
}

TEST(Plan, StrongScalingKeepsTheGlobalBatch) {
  auto config = tinyConfig();
  config.placement.replicas = 2;
  config.measurement.scaling = "strong";
  const auto plan = resolvePlan(config);
  EXPECT_EQ(plan.replicaBatch, 2);
  EXPECT_EQ(plan.globalBatch, 4);
}

TEST(Plan, UnknownNamesAreRefusedWithTheNearest) {
  auto config = tinyConfig();
  config.network.model = "trivail";
  EXPECT_NE(refusalOf(config).find("did you mean 'trivial'"), std::string::npos);
  config = tinyConfig();
  config.numerics.precision = "fp64";
  EXPECT_NE(refusalOf(config).find("bf16"), std::string::npos);
}

TEST(Plan, MoreReplicasThanHardwareNeedOversubscription) {
  auto config = tinyConfig();
  config.placement.replicas = readTopology().hardwareThreads + 1;
  config.step.batch = 1;
  EXPECT_TRUE(resolvePlan(config).cores.shared);
  config.placement.oversubscribe = false;
  EXPECT_NE(refusalOf(config).find("--oversubscribe"), std::string::npos);
}

TEST(Plan, TooLittleMemoryIsFoundBeforeAnythingIsAllocated) {
  Config config;
  config.step.batch = 1'000'000;
  const auto refusal = refusalOf(config);
  EXPECT_NE(refusal.find("needs about"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("lower --batch"), std::string::npos) << refusal;
}

TEST(Plan, MemoryIsJudgedApartFromTheRest) {
  Config config;
  config.step.batch = 1'000'000;
  EXPECT_EQ(resolvePlan(config).replicaBatch, 1'000'000);
}

TEST(Plan, TheGuessOfTheLargestBatchIsASixteenthBelowWhatTheEstimateHasRoomFor) {
  for (const int64_t replicas : {1, 2}) {
    Config config = tinyConfig();
    config.network.model = "resnet20", config.placement.replicas = replicas, config.step.batch = Config::mostThatFits;
    const auto plan = resolvePlan(config);
    ASSERT_TRUE(plan.search);
    const int64_t guess = plan.search->guess;
    EXPECT_EQ(plan.config.step.batch, guess);
    EXPECT_EQ(plan.search->most, 1'000'000);
    const auto estimate = [&](int64_t batch) {
      config.step.batch = batch;
      return resolvePlan(config).memory.total();
    };
    EXPECT_LE(estimate(guess + guess / 20), memoryToUse(plan.availableBytes));
    EXPECT_GT(estimate(guess + guess / 10), memoryToUse(plan.availableBytes));
  }
}

TEST(Plan, ASearchEndsWhereTheImagesDo) {
  Config config = tinyConfig();
  config.input.data = tenImages(), config.step.batch = Config::mostThatFits;
  EXPECT_EQ(resolvePlan(config).search->most, 10);
  EXPECT_EQ(resolvePlan(config).search->bound, "--data has 10 images");
  config.placement.replicas = 3;
  EXPECT_EQ(resolvePlan(config).search->most, 3);
  config.step.accumulate = 2;
  const auto plan = resolvePlan(config);
  EXPECT_EQ(plan.search->unit, 2);
  EXPECT_EQ(plan.config.step.batch % 2, 0);
  config.step.accumulate = 4;
  EXPECT_NE(refusalOf(config).find("each part needs an image and --data has 10 images"), std::string::npos)
      << refusalOf(config);
}

TEST(Plan, TheTextSaysThatTheBatchIsAGuess) {
  Config config = tinyConfig();
  config.step.batch = Config::mostThatFits;
  const auto plan = resolvePlan(config);
  EXPECT_NE(planText(plan).find(guessText(plan)), std::string::npos) << planText(plan);
  config.step.batch = 4;
  EXPECT_EQ(planText(resolvePlan(config)).find("guess"), std::string::npos);
}

TEST(Plan, TheLearningRateIsTheOptimizersOrTheModels) {
  auto config = tinyConfig();
  EXPECT_EQ(resolvePlan(config).config.step.learningRate, find(models(), config.network.model, "model").learningRate);
  config.step.optimizer = "adam";
  EXPECT_EQ(resolvePlan(config).config.step.learningRate, 1e-3);
  config.step.learningRate = 0.5;
  EXPECT_EQ(resolvePlan(config).config.step.learningRate, 0.5);
  config.step.optimizer = "adan";
  EXPECT_NE(refusalOf(config).find("--optimizer"), std::string::npos);
}

TEST(Plan, DataGivesClassesAndInput) {
  auto config = tinyConfig();
  config.input.data = tenImages();
  const auto plan = resolvePlan(config);
  EXPECT_EQ(plan.config.network.classes, 10);
  EXPECT_EQ(plan.config.input.source, "queue");
  EXPECT_GE(plan.memory.input, 10 * 28 * 28);
}

TEST(Plan, TheHeadGivesClassesAndLoss) {
  auto config = tinyConfig();
  EXPECT_EQ(resolvePlan(config).graph->loss().name, "softmax_cross_entropy");
  config.network.head = "14xsigmoid";
  const auto plan = resolvePlan(config);
  EXPECT_EQ(plan.config.network.classes, 14);
  EXPECT_EQ(plan.config.network.head, "sigmoid");
  EXPECT_EQ(plan.graph->loss().name, "binary_cross_entropy");
  EXPECT_EQ((*plan.graph).node((*plan.graph).output()).shape.channels, 14);
  EXPECT_EQ(resolvePlan(plan.config).config, plan.config);
}

TEST(Plan, AHeadThatCannotBeIsRefused) {
  auto config = tinyConfig();
  config.network.head = "14xsigmod";
  EXPECT_EQ(refusalOf(config), "unknown --head 'sigmod'; did you mean 'sigmoid'? valid: softmax, sigmoid");
  config.network.head = "1xsoftmax";
  EXPECT_NE(refusalOf(config).find("softmax_cross_entropy needs at least 2"), std::string::npos);
  config.network.head = "1xsigmoid";
  EXPECT_EQ(refusalOf(config), "");
  config.network.head = "10xsigmoid";
  config.input.data = tenImages();
  EXPECT_NE(refusalOf(config).find("the data set has one class per image"), std::string::npos);
}

TEST(Plan, DataThatDoesNotFitIsRefused) {
  auto config = tinyConfig();
  config.input.data = tenImages();
  config.network.classes = 9;
  EXPECT_NE(refusalOf(config).find("has 10 classes"), std::string::npos);
  config.network.classes = 11;
  EXPECT_EQ(resolvePlan(config).config.network.classes, 11);
  config.network.imageSize = 24;
  EXPECT_NE(refusalOf(config).find("pad takes none larger than 24x24; change --image-size"), std::string::npos);
}

TEST(Plan, ABatchNormOfSingleValuesIsRefused) {
  auto config = tinyConfig();
  config.network.model = "resnet18";
  config.network.imageSize = 32;  // the last stage is 1 x 1
  config.step.batch = 1;
  EXPECT_NE(refusalOf(config).find("single value per channel"), std::string::npos);
  config.placement.replicas = 2, config.placement.oversubscribe = true;
  EXPECT_NE(refusalOf(config).find("single value per channel"), std::string::npos);
  config.exchange.syncBatchNorm = true;  // two values, of two replicas
  EXPECT_EQ(resolvePlan(config).globalBatch, 2);
  config.placement.replicas = 1;
  config.step.forwardOnly = true;
  config.exchange.syncBatchNorm = false;
  EXPECT_EQ(resolvePlan(config).globalBatch, 1);
}

TEST(Plan, AServerWithoutVariablesIsRefused) {
  auto config = tinyConfig();
  config.network.model = "lenet5";
  config.exchange.strategy = "parameter_server";
  config.placement.oversubscribe = true;
  config.placement.servers = 8;
  EXPECT_EQ(refusalOf(config), "");
  config.placement.servers = 9;
  EXPECT_NE(refusalOf(config).find("--servers=9 with --model=lenet5: it has 8 variables"), std::string::npos)
      << refusalOf(config);
}

TEST(Plan, ABatchIsCutIntoEqualParts) {
  auto config = tinyConfig();
  config.step.batch = 12;
  config.step.accumulate = 5;
  EXPECT_NE(refusalOf(config).find("--accumulate=5"), std::string::npos);
  config.step.accumulate = 1;
  const auto whole = resolvePlan(config).memory.activations;
  config.step.accumulate = 4;
  EXPECT_EQ(resolvePlan(config).globalBatch, 12);
  EXPECT_LE(resolvePlan(config).memory.activations, whole / 4 + 1);
}

TEST(Plan, NothingToComputeAgainIsSaid) {
  auto config = tinyConfig();
  config.network.model = "alexnet";
  config.network.imageSize = 64;
  config.numerics.recompute = "norm";
  EXPECT_NE(resolvePlan(config).recomputeNote.find("alexnet has no place"), std::string::npos);
}

TEST(Plan, BlocksOfChannelsNeedThePlannedExecutor) {
  auto config = tinyConfig();
  config.numerics.layout = "blocked";
  config.numerics.executor = "autograd";
  EXPECT_NE(refusalOf(config).find("--executor=planned"), std::string::npos);
}

TEST(Plan, WinogradNeedsThePlannedExecutor) {
  auto config = tinyConfig();
  config.numerics.convolution = "winograd";
  config.numerics.precision = "bf16";
  EXPECT_EQ(refusalOf(config), "");
  config.numerics.executor = "autograd";
  EXPECT_NE(refusalOf(config).find("--executor=planned"), std::string::npos);
  config.numerics.executor = "planned", config.numerics.layout = "nchw";
  EXPECT_NE(refusalOf(config).find("other than nchw"), std::string::npos);
  config.numerics.convolution = "direct";
  EXPECT_EQ(refusalOf(config), "");
}

TEST(Plan, GemmServesBf16Too) {
  auto config = tinyConfig();
  config.numerics.convolution = "gemm", config.numerics.precision = "bf16";
  EXPECT_EQ(refusalOf(config), "");
  config.numerics.layout = "nchw";
  EXPECT_NE(refusalOf(config).find("other than nchw"), std::string::npos);
}

TEST(Plan, MissingDataIsADataError) {
  auto config = tinyConfig();
  config.input.data = testing::TempDir() + "no_such_folder";
  EXPECT_THROW(resolvePlan(config), DataError);
}

TEST(Plan, GpusThatAreNotThereAreRefused) {
  auto config = tinyConfig();
  config.placement.devices = "cuda:" + std::to_string(cudaDeviceCount() + 1);
  config.exchange.allReduce = "copy";
  EXPECT_NE(refusalOf(config).find(config.placement.devices), std::string::npos);
}

TEST(Plan, ADeviceOfTheCpuIsASetOfCores) {
  auto config = tinyConfig();
  config.placement.devices = "cpu:1+3", config.placement.coresPerReplica = 1;
  const auto plan = resolvePlan(config);
  EXPECT_EQ(plan.config.placement.replicas, 2);
  ASSERT_EQ(plan.deviceLabels.size(), 2U);
  EXPECT_EQ(plan.deviceLabels[0].find("cpu:1 on cores "), 0U) << plan.deviceLabels[0];
  EXPECT_EQ(plan.deviceLabels[1].find("cpu:3 on cores "), 0U) << plan.deviceLabels[1];
  EXPECT_NE(plan.link, "");
  EXPECT_NE(planText(plan).find(", all within one " + plan.link), std::string::npos) << planText(plan);
  const auto all = planCores(readTopology(), 4, 1, true);
  EXPECT_EQ(plan.cores.threadsOf, (std::vector<std::vector<int>>{all.threadsOf[1], all.threadsOf[3]}));
  config.placement.devices = "cpu:4095", config.placement.oversubscribe = false;
  EXPECT_NE(refusalOf(config).find("--devices=cpu:4095: a CPU device has a core or more"), std::string::npos)
      << refusalOf(config);
}

TEST(Plan, AForbiddenPointStillHasItsValuesResolved) {
  auto config = tinyConfig();
  config.exchange.strategy = "independent";
  config.exchange.overlap = "off";
  EXPECT_NE(refusalOf(config), "");
  const auto resolved = resolveConfig(config);
  EXPECT_EQ(resolved.input.source, "device");
  EXPECT_GT(resolved.network.classes, 0);
  EXPECT_GE(resolved.placement.coresPerReplica, 1);
}

TEST(Plan, DeadlineFollowsTheAmountOfWork) {
  Config config;
  config.measurement.budget = 25;
  EXPECT_EQ(deadlineSeconds(config), 220);
  config.measurement.steps = 10;
  EXPECT_EQ(deadlineSeconds(config), 900);
  config.measurement.deadline = 3;
  EXPECT_EQ(deadlineSeconds(config), 3);
}

TEST(Plan, TextShowsHowTheGpusAreConnected) {
  auto plan = resolvePlan(tinyConfig());
  EXPECT_TRUE(plan.gpuLinkLines.empty());
  plan.gpuLinkLines = {"cuda:0  X", "PCIe"};
  EXPECT_NE(planText(plan).find("\n           cuda:0  X\n           PCIe\nbatch"), std::string::npos) << planText(plan);
}

TEST(Plan, TextSaysWhatIsExchangedAfterBackward) {
  auto config = tinyConfig();
  for (const char* strategy : {"replicated", "parameter_server"}) {
    for (const char* overlap : {"on", "off"}) {
      config.exchange.strategy = strategy, config.exchange.overlap = overlap;
      const auto text = planText(resolvePlan(config));
      EXPECT_EQ(text.find(", after backward\n") != std::string::npos, config.exchange.overlap == "off") << text;
    }
  }
}

TEST(Plan, TextHasOneLinePerFact) {
  auto config = tinyConfig();
  config.placement.replicas = 2;
  const auto plan = resolvePlan(config);
  const auto text = planText(plan);
  EXPECT_EQ(std::ranges::count(text, '\n'), 10);
  for (const auto& fact : {"trivial", "cpu:0", "cpu:1", "8 global", "all-reduce owner", "step time is steady"}) {
    EXPECT_NE(text.find(fact), std::string::npos) << fact << " in\n" << text;
  }
  EXPECT_EQ(planLine(plan).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace tandem

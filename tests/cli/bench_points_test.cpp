#include "cli/bench_points.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/banner.h"
#include "cli/catalogs.h"
#include "cli/progress_line.h"
#include "machine/cpu/topology.h"

namespace tandem {
namespace {

Sweep parsed(std::vector<std::string> arguments, const BenchPlaces& places) {
  auto sweep = parseArguments("bench", arguments, catalogNames());
  addDefaultAxes(sweep, places);
  return sweep;
}

Sweep parsed(std::vector<std::string> arguments, int64_t cores) {
  return parsed(std::move(arguments), BenchPlaces{.cores = cores, .gpus = {}, .halfPrecision = {}, .withoutGpus = {}});
}

BenchPlaces gpus(int count) {
  BenchPlaces places{.cores = 4, .gpus = {}, .halfPrecision = "bf16", .withoutGpus = {}};
  for (int i = 0; i < count; ++i) places.gpus.push_back(i);
  return places;
}

/// "devices strategy precision" of every point, and "behind" where the exchange does not overlap backward.
std::vector<std::string> textsOf(const std::vector<Config>& configs) {
  std::vector<std::string> texts;
  for (const auto& config : configs) {
    texts.push_back(concat(config.placement.devices, ' ', config.exchange.strategy, ' ', config.numerics.precision,
                           config.exchange.overlap == "off" ? " behind" : ""));
  }
  return texts;
}

std::vector<int64_t> replicasOf(const std::vector<Config>& configs) {
  std::vector<int64_t> replicas;
  for (const auto& config : configs) replicas.push_back(config.placement.replicas);
  return replicas;
}

TEST(ResolvePoints, CoresAreDividedByTheLargestNumberOfReplicas) {
  const auto cores = static_cast<int64_t>(readTopology().cores.size());
  const Sweep sweep = parsed({"--model=trivial", "--image-size=32", "--replicas=1,2", "--oversubscribe"}, 2);
  const auto points = resolvePoints(sweep, expand(sweep, catalogNames()));
  ASSERT_EQ(points.size(), 2U);
  for (const BenchPoint& point : points) {
    ASSERT_TRUE(point.plan) << point.refusal;
    EXPECT_EQ(point.plan->config.placement.coresPerReplica, std::max<int64_t>(1, cores / 2)) << point.label;
  }
}

TEST(ResolvePoints, EqualThreadsRunTheKernelsOfTheMostReplicas) {
  const auto cores = static_cast<int64_t>(readTopology().cores.size());
  if (cores < 2) GTEST_SKIP() << "two replicas need two cores";
  const auto kernelReplicasOf = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--model=trivial", "--image-size=32", "--oversubscribe"});
    const Sweep sweep = parsed(std::move(more), 2);
    std::vector<int64_t> found;
    for (const BenchPoint& point : resolvePoints(sweep, expand(sweep, catalogNames()))) {
      EXPECT_EQ(point.config.numerics.kernelReplicas, point.plan->config.numerics.kernelReplicas);
      found.push_back(point.plan->config.numerics.kernelReplicas);
    }
    return found;
  };
  using Replicas = std::vector<int64_t>;
  EXPECT_EQ(kernelReplicasOf({"--replicas=1,2"}), (Replicas{2, 0})) << "0: those of the point itself, which are two";
  EXPECT_EQ(kernelReplicasOf({"--replicas=1"}), Replicas{0});
  EXPECT_EQ(kernelReplicasOf({"--replicas=1", "--cores-per-replica=1,2"}), (Replicas{0, 0})) << "other threads";
  EXPECT_EQ(kernelReplicasOf({"--replicas=1,2", "--kernel-replicas=1"}), (Replicas{1, 1})) << "as asked for";
}

TEST(DefaultAxes, AreReplicasAndStrategies) {
  const auto configs = expand(parsed({}, 2), catalogNames());
  EXPECT_EQ(replicasOf(configs), (std::vector<int64_t>{1, 2, 1, 2}));
  EXPECT_EQ(configs.front().exchange.strategy, "replicated");
  EXPECT_EQ(configs.back().exchange.strategy, "parameter_server");
  EXPECT_EQ(configs.front().network.model, "resnet50");
  EXPECT_EQ(configs.front().measurement.budget, 25);
}

TEST(DefaultAxes, AreThoseOfTheHelp) {
  const std::string help = helpText("bench", catalogNames());
  const std::string summary = help.substr(0, help.find("Examples:"));
  for (const std::string typed : {"--replicas=1", "--strategy=replicated", "--devices=cpu", "--compare"}) {
    EXPECT_NE(summary.find(typed.substr(0, typed.find('='))), std::string::npos) << typed;
    EXPECT_TRUE(parsed({typed}, 4).axes.empty()) << typed;
  }
  const int64_t batch = expand(parsed({}, 2), catalogNames()).front().step.batch;
  EXPECT_NE(summary.find(concat("batch is ", batch, ", without --model and --batch")), std::string::npos) << summary;
}

TEST(DefaultAxes, FollowTheNumberOfCores) {
  EXPECT_EQ(replicasOf(expand(parsed({}, 1), catalogNames())), (std::vector<int64_t>{1, 1}));
  const auto configs = expand(parsed({}, 6), catalogNames());
  EXPECT_EQ(replicasOf(configs), (std::vector<int64_t>{1, 2, 4, 1, 2, 4}));
  EXPECT_LT(configs.front().measurement.budget, 25);
}

TEST(DefaultAxes, GiveWayToWhatIsAskedFor) {
  EXPECT_EQ(expand(parsed({"--replicas=2"}, 8), catalogNames()).size(), 1U);
  EXPECT_EQ(expand(parsed({"--strategy=independent"}, 8), catalogNames()).size(), 1U);
  EXPECT_EQ(expand(parsed({"--devices=cpu"}, 8), catalogNames()).size(), 1U);
  const auto configs = expand(parsed({"--batch=32", "--budget=3"}, 1), catalogNames());
  EXPECT_EQ(configs.front().step.batch, 32);
  EXPECT_EQ(configs.front().measurement.budget, 3);
  EXPECT_EQ(expand(parsed({"--model=trivial"}, 1), catalogNames()).front().step.batch, Config().step.batch);
}

TEST(DefaultAxes, OfGpusAreDevicesStrategiesAndPrecisions) {
  const auto two = expand(parsed({}, gpus(2)), catalogNames());
  EXPECT_EQ(textsOf(two),
            (std::vector<std::string>{"cuda:0 replicated fp32", "cuda:0 replicated bf16", "cuda:0+1 replicated fp32",
                                      "cuda:0+1 replicated fp32 behind", "cuda:0+1 replicated bf16",
                                      "cuda:0+1 replicated bf16 behind", "cuda:0 parameter_server fp32",
                                      "cuda:0 parameter_server bf16", "cuda:0+1 parameter_server fp32",
                                      "cuda:0+1 parameter_server bf16"}));
  EXPECT_EQ(two.front().step.batch, Config().step.batch) << "the model's own";
  EXPECT_EQ(two.front().measurement.budget, 10);
  const auto six = expand(parsed({"--precision=fp32", "--batch=7"}, gpus(6)), catalogNames());
  ASSERT_EQ(six.size(), 11U);
  EXPECT_EQ(six[3].placement.devices, "cuda:0+1+2+3");
  EXPECT_EQ(six[5].placement.devices, "cuda:0+1+2+3+4+5");
  EXPECT_EQ(six[5].step.batch, 7);
  EXPECT_EQ(expand(parsed({}, gpus(8)), catalogNames()).size(), 22U);
  EXPECT_EQ(expand(parsed({}, gpus(1)), catalogNames()).back().placement.devices, "cuda:0");
}

TEST(DefaultAxes, OfGpusTakeTheOverlapThatIsAskedFor) {
  for (const char* asked : {"on", "off"}) {
    const auto configs = expand(parsed({concat("--overlap=", asked)}, gpus(2)), catalogNames());
    EXPECT_EQ(configs.size(), 8U) << asked;
    for (const Config& config : configs) EXPECT_EQ(config.exchange.overlap, asked);
  }
  EXPECT_EQ(expand(parsed({"--overlap=on,off"}, gpus(2)), catalogNames()).size(), 16U);
  EXPECT_EQ(expand(parsed({"--forward-only"}, gpus(2)), catalogNames()).size(), 8U) << "nothing is exchanged";
}

TEST(DefaultAxes, OfGpusWithout16BitsAreFp32Alone) {
  BenchPlaces places = gpus(1);
  places.halfPrecision.clear();
  EXPECT_EQ(textsOf(expand(parsed({}, places), catalogNames())),
            (std::vector<std::string>{"cuda:0 replicated fp32", "cuda:0 parameter_server fp32"}));
}

TEST(DefaultAxes, OptionsOfCoresKeepToTheCpu) {
  for (const char* option : {"--cores-per-replica=1", "--oversubscribe"}) {
    EXPECT_EQ(expand(parsed({option}, gpus(2)), catalogNames()).front().placement.devices, "cpu") << option;
  }
  EXPECT_EQ(expand(parsed({"--devices=cpu"}, gpus(2)), catalogNames()).size(), 1U);
}

TEST(DefaultAxes, GpusThatThisBuildCannotUseAreLeftOut) {
  GpuFacts older, newer;
  older.capability = 61;
  newer.capability = 90;
  CudaFacts facts;
  facts.built = true;
  facts.runtimeVersion = facts.driverVersion = 13000;
  facts.gpus = {older, newer, newer};
  facts.libtorch = architecturesOfList("80-real 90-real");
  const BenchPlaces places = placesOf(3, facts);
  EXPECT_EQ(places.cores, 3);
  EXPECT_EQ(places.gpus, (std::vector<int>{1, 2}));
  EXPECT_EQ(places.halfPrecision, "bf16");
  facts.driverVersion = 12000;
  const BenchPlaces none = placesOf(3, facts);
  EXPECT_TRUE(none.gpus.empty());
  const auto notes = parsed({}, none).notes;
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes.front().find("measured on the CPU: --devices=cuda:0: the NVIDIA driver"), std::string::npos);
  EXPECT_EQ(parsed({"--replicas=2"}, none).notes, notes) << "--devices is chosen there too";
  EXPECT_TRUE(parsed({"--devices=cpu"}, none).notes.empty());
  EXPECT_EQ(placesOf(3, CudaFacts()).withoutGpus, "") << "a build without CUDA has nothing to explain";
}

TEST(BenchPoints, WhatAStrategyPassesOverIsMeasuredOnce) {
  const auto sweep = parsed({"--model=trivial", "--image-size=32", "--strategy=replicated,parameter_server",
                             "--parameter-device=cpu,device", "--devices=cpu"},
                            1);
  const auto points = resolvePoints(sweep, expand(sweep, catalogNames()));
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].label, "strategy=replicated parameter-device=cpu");
  ASSERT_EQ(points[0].notes.size(), 1U);
  EXPECT_NE(points[0].notes[0].find("--parameter-device=device is passed over"), std::string::npos);
  EXPECT_EQ(points[2].label, "strategy=parameter_server parameter-device=device");
  EXPECT_TRUE(points[2].notes.empty());
}

TEST(BenchPoints, SetsOfCoresHaveAsManyCoresEach) {
  const auto sweep = parsed({"--model=trivial", "--image-size=32", "--devices=cpu:0,cpu:0+1", "--oversubscribe"}, 1);
  const auto points = resolvePoints(sweep, expand(sweep, catalogNames()));
  const auto cores = static_cast<int64_t>(readTopology().cores.size());
  ASSERT_EQ(points.size(), 2U);
  for (const BenchPoint& point : points) {
    EXPECT_EQ(point.config.placement.coresPerReplica, std::max<int64_t>(1, cores / 2)) << point.label;
  }
  EXPECT_EQ(points[1].config.placement.replicas, 2);
}

TEST(BenchPoints, AnImpossiblePointKeepsItsReason) {
  const auto sweep = parsed({"--model=trivial", "--image-size=32", "--replicas=1,4000"}, 1);
  const auto points = resolvePoints(sweep, expand(sweep, catalogNames()));
  ASSERT_EQ(points.size(), 2U);
  EXPECT_TRUE(points[0].plan.has_value());
  EXPECT_EQ(points[0].label, "replicas=1");
  EXPECT_FALSE(points[1].plan.has_value());
  EXPECT_NE(points[1].refusal.find("--oversubscribe"), std::string::npos);
}

TEST(BenchPoints, NothingPossibleIsAnError) {
  const auto sweep = parsed({"--model=trivial", "--image-size=32", "--replicas=3000,4000"}, 1);
  EXPECT_THROW(resolvePoints(sweep, expand(sweep, catalogNames())), UsageError);
}

TEST(ProgressText, HoldsRateStepAndTimeLeft) {
  const Progress progress{
      .phase = Phase::measuring, .step = 12, .steps = 40, .imagesPerSecond = 31.5, .secondsLeft = 11.2};
  EXPECT_EQ(progressText("[2/4] replicas=2", progress, 100),
            "[2/4] replicas=2: step 12 of 40, 31.5 images/s, 12 s left");
  EXPECT_EQ(progressText("x", {.phase = Phase::warmingUp, .step = 3}, 100), "x: warming up, step 3");
  EXPECT_EQ(progressText("x", {.phase = Phase::choosingKernels, .step = 12, .steps = 53}, 100),
            "x: choosing kernels 12 of 53");
  EXPECT_EQ(progressText("[2/4] replicas=2", progress, 10), "[2/4] repl");
  EXPECT_EQ(progressText("x", {.phase = Phase::sharingOut, .step = 2, .steps = 4}, 100),
            "x: sharing out the batch, trial 2 of 4");
  EXPECT_EQ(progressText("x", {.phase = Phase::comparing}, 100),
            "x: comparing its first steps with one replica in fp64");
}

TEST(Banner, ShowsHowTheGpusAreConnected) {
  Environment environment;
  environment.devices = {"Some GPU", "Some GPU"};
  environment.gpuLinks = {{0, 1, "PHB", "no", "no"}};
  environment.gpuSlots = {{3, 16, 3, 16}, {3, 16, 3, 16}};
  const auto text = bannerText(environment);
  for (const auto& part :
       {"gpus       Some GPU, Some GPU\n                   cuda:0  cuda:1\n           cuda:0  X       PHB\n",
        "           peer access no, atomics no: all pairs\n           PCIe gen 3 x16 now, gen 3 x16 at most\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

TEST(Banner, NamesWhatWasFound) {
  Environment environment;
  environment.cpu = "Some CPU";
  environment.cores = 3;
  environment.libraries = {{"libtorch", "9.8"}};
  environment.variables = {{"OMP_PROC_BIND", "close"}, {"MALLOC_ARENA_MAX", "2"}};
  const auto text = bannerText(environment);
  for (const auto& part : {"Some CPU", "3 usable", "libtorch 9.8", "OMP_PROC_BIND=close (not passed on)",
                           "MALLOC_ARENA_MAX=2, ", "gpus       none"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

}  // namespace
}  // namespace tandem

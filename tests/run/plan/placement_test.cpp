#include "run/plan/placement.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "config/example_catalogs.h"
#include "strategy/strategy.h"

namespace tandem {
namespace {

/// A machine with GPUs of these compute capabilities, and a build for 8.0 and newer.
CudaFacts machineWith(const std::vector<int>& capabilities) {
  CudaFacts facts;
  facts.built = true;
  facts.runtimeVersion = facts.driverVersion = 13000;
  facts.libtorch = architecturesOfList("80");
  for (const int capability : capabilities) facts.gpus.emplace_back().capability = capability;
  return facts;
}

Config asked(std::string devices, int64_t replicas = Config::oneOnEachDevice) {
  Config config;
  config.placement.devices = std::move(devices);
  config.placement.replicas = replicas;
  return config;
}

/// "cuda:0+1 2": devices and replicas, or why they cannot be.
std::string textOf(const Config& config, const CudaFacts& facts) {
  std::string text;
  const std::string refusal = usageErrorOf([&] {
    const Config found = placed(config, facts);
    EXPECT_EQ(placed(found, facts), found);
    text = concat(found.placement.devices, ' ', found.placement.replicas);
  });
  return text.empty() ? refusal : text;
}

TEST(Placement, AutoIsAllUsableGpusOrAsManyAsReplicas) {
  const CudaFacts four = machineWith({90, 90, 90, 90});
  EXPECT_EQ(textOf(asked("auto"), four), "cuda:0+1+2+3 4");
  EXPECT_EQ(textOf(asked("auto", 1), four), "cuda:0 1");
  EXPECT_EQ(textOf(asked("auto", 3), four), "cuda:0+1+2 3");
  EXPECT_EQ(textOf(asked("cuda", 2), four), "cuda:0+1 2");
  EXPECT_EQ(textOf(asked("auto"), machineWith({61, 90, 90})), "cuda:1+2 2") << "the first is too old for the build";
  EXPECT_EQ(textOf(asked("auto", 8), four),
            "--replicas=8 with --devices=auto: a GPU holds one replica, and this build can use 4 here (cuda:0+1+2+3); "
            "lower --replicas, or use --devices=cpu");
}

TEST(Placement, ARankHasOneGpuUnlessReplicasAskForMore) {
  const CudaFacts four = machineWith({90, 90, 90, 90});
  Config alone = asked("auto"), pair = asked("auto", 2);
  alone.placement.ranks = 4, pair.placement.ranks = 2;
  EXPECT_EQ(textOf(alone, four), "cuda:0 1");
  EXPECT_EQ(textOf(pair, four), "cuda:0+1 2");
}

TEST(Placement, AutoIsTheCpuWithoutGpusAndForOptionsOnCores) {
  EXPECT_EQ(textOf(asked("auto"), CudaFacts()), "cpu 1");
  EXPECT_EQ(textOf(asked("auto", 4), machineWith({})), "cpu 4");
  EXPECT_EQ(textOf(asked("auto", 4), machineWith({61})), "cpu 4");
  const CudaFacts two = machineWith({90, 90});
  Config cores = asked("auto", 4), shared = asked("auto");
  cores.placement.coresPerReplica = 1;
  shared.placement.oversubscribe = true;
  EXPECT_EQ(textOf(cores, two), "cpu 4");
  EXPECT_EQ(textOf(shared, two), "cpu 1");
}

TEST(Placement, KeepsWhatIsNamed) {
  const CudaFacts two = machineWith({90, 90});
  EXPECT_EQ(textOf(asked("cpu"), two), "cpu 1");
  EXPECT_EQ(textOf(asked("cpu:0+3"), two), "cpu:0+3 2");
  EXPECT_EQ(textOf(asked("cuda:1"), two), "cuda:1 1");
  EXPECT_NE(textOf(asked("cuda"), CudaFacts()).find("this build has no CUDA"), std::string::npos);
}

TEST(Placement, SaysWhyNoGpuIsUsed) {
  EXPECT_EQ(whyWithoutGpus(CudaFacts()), "") << "a build without CUDA has nothing to explain";
  EXPECT_EQ(whyWithoutGpus(machineWith({90})), "");
  EXPECT_NE(whyWithoutGpus(machineWith({61})).find("compute capability 6.1"), std::string::npos);
}

TEST(PassOver, OptionsThatTheStrategyHasNoUseFor) {
  for (const auto& [strategy, left] :
       {std::pair{"replicated", "cpu ring"}, {"parameter_server", "device auto"}, {"independent", "cpu auto"}}) {
    Config config;
    config.exchange.strategy = strategy;
    config.exchange.parameterDevice = "device";
    config.exchange.allReduce = "ring";
    const auto notes = passOver(config);
    EXPECT_EQ(concat(config.exchange.parameterDevice, ' ', config.exchange.allReduce), left) << strategy;
    EXPECT_EQ(notes.size(), config.exchange.strategy == "independent" ? 2U : 1U) << strategy;
    EXPECT_TRUE(passOver(config).empty()) << strategy;
  }
  Config config;
  config.exchange.parameterDevice = "device";
  EXPECT_EQ(passOver(config), std::vector<std::string>{"--parameter-device=device is passed over with "
                                                       "--strategy=replicated, which has no use for it"});
}

TEST(PassOver, TheTypeOfGradientsThatAreNotSent) {
  for (const StrategyEntry& strategy : strategies()) {
    Config config;
    config.exchange.strategy = strategy.name, config.exchange.gradientPrecision = "bf16";
    EXPECT_EQ(passOver(config).size(), strategy.sendsGradients ? 0U : 1U) << strategy.name;
    EXPECT_EQ(config.exchange.gradientPrecision, strategy.sendsGradients ? "bf16" : "auto") << strategy.name;
  }
}

TEST(PassOver, OptionsOfCompressionsAndAverages) {
  const auto left = [](const char* strategy, const char* compression) {
    Config config;
    config.exchange.strategy = strategy, config.exchange.compression = compression;
    config.exchange.compressionRatio = 0.5, config.exchange.compressionRank = 7, config.exchange.compressionStart = 2;
    config.exchange.syncEvery = 3, config.exchange.blockMomentum = 0.5;
    const size_t notes = passOver(config).size();
    const Config::Exchange& now = config.exchange;
    return concat(now.compression, ' ', now.compressionRatio, ' ', now.compressionRank, ' ', now.compressionStart, ' ',
                  now.syncEvery, ' ', now.blockMomentum, ", ", notes, " notes");
  };
  EXPECT_EQ(left("replicated", "topk"), "powersgd 0.01 4 0 8 0, 6 notes");
  EXPECT_EQ(left("local_sgd", "onebit"), "powersgd 0.01 4 0 3 0.5, 4 notes");
  EXPECT_EQ(left("compressed", "topk"), "topk 0.5 4 2 8 0, 3 notes");
  EXPECT_EQ(left("compressed", "powersgd"), "powersgd 0.01 7 2 8 0, 3 notes");
  EXPECT_EQ(left("compressed", "onebit"), "onebit 0.01 4 2 8 0, 4 notes");
  Config config;
  config.exchange.strategy = "compressed", config.exchange.compressionRatio = 0.5;
  EXPECT_EQ(passOver(config), std::vector<std::string>{"--compression-ratio=0.5 is passed over with "
                                                       "--compression=powersgd, which has no use for it"});
}

TEST(PassOver, OptionsOfServers) {
  const auto left = [](const char* strategy, const char* mode) {
    Config config;
    config.exchange.strategy = strategy, config.exchange.serverMode = mode;
    config.exchange.serverRanks = 1, config.exchange.maxStaleness = 7;
    const size_t notes = passOver(config).size();
    const Config::Exchange& now = config.exchange;
    return concat(now.serverMode, ' ', now.serverRanks, ' ', now.maxStaleness, ", ", notes, " notes");
  };
  EXPECT_EQ(left("replicated", "async"), "sync 0 2, 3 notes");
  EXPECT_EQ(left("parameter_server", "async"), "async 1 7, 0 notes");
  EXPECT_EQ(left("parameter_server", "staged"), "staged 1 2, 1 notes");
  EXPECT_EQ(left("parameter_server", "sync"), "sync 1 2, 1 notes");
}

}  // namespace
}  // namespace tandem

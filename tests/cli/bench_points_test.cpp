#include "cli/bench_points.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/banner.h"
#include "cli/catalog_names.h"
#include "cli/progress_line.h"

namespace tandem {
namespace {

Sweep parsed(std::vector<std::string> arguments, int64_t cores) {
  auto sweep = parseArguments("bench", arguments, catalogNames());
  addDefaultAxes(sweep, cores);
  return sweep;
}

std::vector<int64_t> replicasOf(const std::vector<Config>& configs) {
  std::vector<int64_t> replicas;
  for (const auto& config : configs) replicas.push_back(config.replicas);
  return replicas;
}

TEST(DefaultAxes, AreReplicasAndStrategies) {
  const auto configs = expand(parsed({}, 2), catalogNames());
  EXPECT_EQ(replicasOf(configs), (std::vector<int64_t>{1, 2, 1, 2}));
  EXPECT_EQ(configs.front().strategy, "replicated");
  EXPECT_EQ(configs.back().strategy, "parameter_server");
  EXPECT_EQ(configs.front().model, "resnet50");
  EXPECT_EQ(configs.front().budget, 25);
}

TEST(DefaultAxes, FollowTheNumberOfCores) {
  EXPECT_EQ(replicasOf(expand(parsed({}, 1), catalogNames())), (std::vector<int64_t>{1, 1}));
  const auto configs = expand(parsed({}, 6), catalogNames());
  EXPECT_EQ(replicasOf(configs), (std::vector<int64_t>{1, 2, 4, 1, 2, 4}));
  EXPECT_LT(configs.front().budget, 25);
}

TEST(DefaultAxes, GiveWayToWhatIsAskedFor) {
  EXPECT_EQ(expand(parsed({"--replicas=2"}, 8), catalogNames()).size(), 1U);
  EXPECT_EQ(expand(parsed({"--strategy=independent"}, 8), catalogNames()).size(), 1U);
  EXPECT_EQ(expand(parsed({"--devices=cpu"}, 8), catalogNames()).size(), 1U);
  const auto configs = expand(parsed({"--batch=32", "--budget=3"}, 1), catalogNames());
  EXPECT_EQ(configs.front().batch, 32);
  EXPECT_EQ(configs.front().budget, 3);
  EXPECT_EQ(expand(parsed({"--model=trivial"}, 1), catalogNames()).front().batch, Config().batch);
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
  const Progress progress{.warmingUp = false, .step = 12, .steps = 40, .imagesPerSecond = 31.5, .secondsLeft = 11.2};
  EXPECT_EQ(progressText("[2/4] replicas=2", progress, 100),
            "[2/4] replicas=2: step 12 of 40, 31.5 images/s, 12 s left");
  EXPECT_EQ(progressText("x", {.warmingUp = true, .step = 3}, 100), "x: warming up, step 3");
  EXPECT_EQ(progressText("[2/4] replicas=2", progress, 10), "[2/4] repl");
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

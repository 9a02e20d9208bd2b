#include <gtest/gtest.h>

#include "base/error.h"
#include "models/model.h"
#include "run/run_point.h"
#include "support/typical_networks.h"

namespace tandem {
namespace {

/// What takes least time: the model's own size if it is small, else the first of these that its layers can shrink.
int64_t smallImageSize(const ModelEntry& model) {
  for (const int64_t size : {64, 96, 128}) {
    if (size >= model.input.height) break;
    try {
      buildModel(model.name, {.imageSize = size});
      return size;
    } catch (const UsageError&) {
      continue;
    }
  }
  return 0;
}

constexpr int64_t steps = 2;

Config twoSteps(const ModelEntry& model) {
  Config config;
  config.network.model = model.name;
  config.network.imageSize = smallImageSize(model);
  config.step.batch = 2;
  config.placement.replicas = 2;
  config.placement.oversubscribe = true;
  config.measurement.warmup = std::string("0");
  config.measurement.steps = steps;
  config.step.learningRate = 1e-4;
  config.numerics.convolution = "direct";  // nothing is measured
  config.numerics.layout = "nhwc";
  config.measurement.verify = "off";  // a process of tests is old enough for any comparison
  return config;
}

void expectTrains(const ModelEntry& model, const char* strategy, const char* precision) {
  Config config = twoSteps(model);
  config.exchange.strategy = strategy;
  config.numerics.precision = precision;
  const RunRecord record = runPoint(resolvePlan(config), nullptr);
  EXPECT_EQ(record.outcome.kind, OutcomeKind::ok) << strategy << ' ' << precision << ": " << record.outcome.reason;
  EXPECT_EQ(record.measuredSteps, steps);
  ASSERT_EQ(record.losses.size(), static_cast<size_t>(steps));
  EXPECT_NE(record.losses[0], record.losses[1]) << "the same images: the update did not reach the network";
  EXPECT_LT(record.peakMemoryBytes, int64_t{8} << 30);
}

// That every network runs in a whole point; what it computes is compared elsewhere (Golden, Zoo). At a reduced image
// size where the model's own is larger than 64. (That strategies and precisions go together in any way is tested with
// one network.) Those that a typical one stands for, and large ones, run in the long tests.
class ZooRun : public testing::TestWithParam<ModelEntry> {};
class LongZooRun : public ZooRun {};

TEST_P(ZooRun, TrainsOnTwoReplicas) { expectTrains(GetParam(), "replicated", "fp32"); }
TEST_P(LongZooRun, TrainsByAServerInBf16) { expectTrains(GetParam(), "parameter_server", "bf16"); }

std::string nameOf(const testing::TestParamInfo<ModelEntry>& row) { return std::string(row.param.name); }
std::vector<ModelEntry> networks(bool quick) {
  constexpr int64_t mostParameters = 30'000'000;
  std::vector<ModelEntry> found;
  for (const ModelEntry& model : models()) {
    if ((isTypical(model) && model.parameters <= mostParameters) == quick) found.push_back(model);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Zoo, ZooRun, testing::ValuesIn(networks(/*quick=*/true)), nameOf);
INSTANTIATE_TEST_SUITE_P(LongZoo, ZooRun, testing::ValuesIn(networks(/*quick=*/false)), nameOf);
INSTANTIATE_TEST_SUITE_P(Long, LongZooRun, testing::ValuesIn(models().begin(), models().end()), nameOf);

}  // namespace
}  // namespace tandem

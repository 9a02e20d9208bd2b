#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/run_point.h"
#include "models/model.h"

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
  config.model = model.name;
  config.imageSize = smallImageSize(model);
  config.batch = 2;
  config.replicas = 2;
  config.oversubscribe = true;
  config.warmup = std::string("0");
  config.steps = steps;
  config.learningRate = 1e-4;
  config.convolution = "direct";  // nothing is measured
  config.layout = "nhwc";
  return config;
}

class ZooRun : public testing::TestWithParam<ModelEntry> {};

// At a reduced image size where the model's own is larger than 64. (That strategies and precisions go together in any
// way is tested with one network; that each model is right in each precision, by its executor.)
TEST_P(ZooRun, TrainsOnTwoReplicas) {
  const Config config = twoSteps(GetParam());
  const RunRecord record = runPoint(resolvePlan(config, config.replicas), nullptr);
  EXPECT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
  EXPECT_EQ(record.measuredSteps, steps);
  EXPECT_EQ(record.losses.size(), static_cast<size_t>(steps));
  EXPECT_LT(record.peakMemoryBytes, int64_t{8} << 30);
}

INSTANTIATE_TEST_SUITE_P(Zoo, ZooRun, testing::ValuesIn(models().begin(), models().end()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace tandem

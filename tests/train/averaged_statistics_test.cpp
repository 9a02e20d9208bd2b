// Running statistics of replicas with --ema.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/model.h"
#include "run/plan/replica_set_options.h"

namespace tandem {
namespace {

constexpr double decay = 0.8;
constexpr int steps = 20;

std::vector<at::Tensor> copies(const StateTensors& tensors) {
  std::vector<at::Tensor> all;
  for (const auto& [name, tensor] : tensors) all.push_back(tensor.to(at::kDouble));
  return all;
}

/// timm's ModelEmaV2 written out, in fp64: of each statistic, over its values before the first step and after each.
std::vector<at::Tensor> written(const std::vector<std::vector<at::Tensor>>& course) {
  std::vector<at::Tensor> average = course.front();
  for (size_t step = 1; step < course.size(); ++step) {
    for (size_t i = 0; i < average.size(); ++i) average[i] = decay * average[i] + (1 - decay) * course[step][i];
  }
  return average;
}

class AveragedStatistics : public testing::TestWithParam<const char*> {};

TEST_P(AveragedStatistics, AreTimmsAfterTwentySteps) {
  const Graph graph = buildModel("resnet20", {});
  Config config;
  config.network.model = "resnet20", config.numerics.executor = GetParam();
  config.step.batch = 4, config.step.accumulate = 2, config.step.ema = decay;
  config.placement.replicas = 2, config.placement.oversubscribe = true;
  ReplicaSetOptions options = trainingOptions(resolvePlan(config), KernelSelection());
  options.graph = &graph;
  ReplicaSet(options).run([](ReplicaSet::Member& member) {
    std::vector<std::vector<at::Tensor>> course{copies(member.executor().statistics())};
    ASSERT_EQ(course.front().size(), 38U);
    for (int step = 0; step < steps; ++step) {
      member.step();
      course.push_back(copies(member.executor().statistics()));
    }
    const std::vector<at::Tensor> average = written(course);
    member.swapStatistics();
    const auto swapped = copies(member.executor().statistics());
    member.swapStatistics();
    const auto restored = copies(member.executor().statistics());
    for (size_t i = 0; i < average.size(); ++i) {
      const double size = average[i].norm().item<double>();
      EXPECT_LT((swapped[i] - average[i]).norm().item<double>(), 1e-6 * size) << i;
      EXPECT_GT((course.back()[i] - average[i]).norm().item<double>(), 1e-4 * size) << i << ": nothing is averaged";
      EXPECT_TRUE(at::equal(restored[i], course.back()[i])) << i;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Executors, AveragedStatistics, testing::Values("planned", "autograd"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace tandem

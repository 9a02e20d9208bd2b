#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>

#include "base/catalog.h"
#include "base/statistics.h"
#include "base/text.h"
#include "data/memory_dataset.h"
#include "engine/team_options.h"
#include "engine/used_kernels.h"
#include "models/model.h"

namespace tandem {
namespace {

const std::string folder = "/usr/share/datasets/fashion-mnist";  // of Debian's dataset-fashion-mnist
constexpr int64_t globalBatch = 128, epochs = 2, testBatch = 500;
constexpr std::array<int64_t, 3> seeds{1, 2, 3};

/// The 10,000 test images, normalised as the images of `training` are.
class TestImages final : public Dataset {
 public:
  explicit TestImages(const Dataset& training)
      : images_(openIdxFiles(folder + "/t10k-images-idx3-ubyte.gz", folder + "/t10k-labels-idx1-ubyte.gz")),
        info_(images_->info()) {
    info_.normalization = training.info().normalization;
  }
  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return images_->size(); }
  void get(int64_t index, std::span<uint8_t> image, std::span<uint8_t> label) const override {
    images_->get(index, image, label);
  }

 private:
  std::unique_ptr<Dataset> images_;
  DatasetInfo info_;
};

/// Two epochs with the rate going to zero along a cosine: what is left at the end is small steps, so that seeds differ
/// little.
RunPlan planOf(const std::string& precision, int64_t seed) {
  Config config;
  config.model = "resnet20";
  config.data = folder;
  config.precision = precision;
  config.batch = globalBatch;
  config.augment = "none";
  config.learningRate = 0.1;
  config.schedule = "warmup-cosine";
  config.seed = seed;
  config.warmup = concat(0);
  config.steps = epochs * 60'000 / globalBatch;
  return resolvePlan(config, 1);
}

/// Percent of the test images whose largest output is that of their label, with running statistics.
double top1(Executor& executor, const TeamOptions& team, const RunPlan& plan) {
  const auto tests = std::make_shared<TestImages>(*plan.data);
  const BatchPlan inOrder{.globalBatch = testBatch, .count = testBatch, .height = 32, .width = 32, .shuffle = false};
  const SourceOptions options{.maker = std::make_shared<BatchMaker>(tests, inOrder),
                              .device = &team.devices[0],
                              .type = team.precision->compute,
                              .format = team.kernels.layout->format,
                              .hardwareThreads = {}};
  const auto source = find(sources(), "host", "input").make(options);
  executor.setTraining(false);
  executor.setGradients(false);
  int64_t right = 0;
  for (int64_t seen = 0; seen < tests->size(); seen += testBatch) {
    Batch batch;
    source->next(batch);
    right += executor.forward(batch)[0].argmax(1).eq(batch.labels).sum().item<int64_t>();
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(tests->size());
}

double train(const std::string& precision, int64_t seed) {
  const RunPlan plan = planOf(precision, seed);
  const Graph graph = buildModel(plan.config.model, {.classes = plan.config.classes});
  const TeamOptions options = teamOptions(plan, graph, usedKernels(plan, graph));
  double accuracy = 0;
  Team(options).run([&](Team::Member& member) {
    for (int64_t step = 0; step < plan.config.steps; ++step) member.step();
    member.finish();
    accuracy = top1(member.executor(), options, plan);
  });
  std::cout << precision << ", seed " << seed << ": top-1 " << fixed(accuracy, 2) << " %" << std::endl;
  return accuracy;
}

/// Trained once per process, so that a filter can pick a single training and the whole suite still trains each once.
double accuracyOf(const std::string& precision, int64_t seed) {
  static std::map<std::pair<std::string, int64_t>, double> known;
  const auto [found, missing] = known.try_emplace({precision, seed});
  if (missing) found->second = train(precision, seed);
  return found->second;
}

bool isInstalled() { return std::filesystem::exists(folder); }

class Accuracy : public testing::TestWithParam<std::tuple<std::string, int64_t>> {};

TEST_P(Accuracy, OfFashionMnistIsReached) {
  if (!isInstalled()) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const auto& [precision, seed] = GetParam();
  EXPECT_GT(accuracyOf(precision, seed), 90) << precision << ", seed " << seed;
}

INSTANTIATE_TEST_SUITE_P(Long, Accuracy, testing::Combine(testing::Values("fp32", "bf16"), testing::ValuesIn(seeds)),
                         [](const auto& info) {
                           return concat(std::get<0>(info.param), "_seed", std::get<1>(info.param));
                         });

// Of the means over the seeds: a single training is right or wrong on some tens of images by chance.
TEST(LongAccuracy, OfBf16IsThatOfFp32WithinHalfAPoint) {
  if (!isInstalled()) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  std::map<std::string, std::vector<double>> of;
  for (const char* precision : {"fp32", "bf16"}) {
    for (const int64_t seed : seeds) of[precision].push_back(accuracyOf(precision, seed));
  }
  const double fp32 = *mean(of["fp32"]), bf16 = *mean(of["bf16"]);
  std::cout << "mean of fp32 " << fixed(fp32, 2) << " %, of bf16 " << fixed(bf16, 2) << " %" << std::endl;
  EXPECT_LE(std::abs(fp32 - bf16), 0.5) << "points";
}

}  // namespace
}  // namespace tandem

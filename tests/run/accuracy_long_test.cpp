#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <compare>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>

#include "base/catalog.h"
#include "base/statistics.h"
#include "base/text.h"
#include "data/dataset/dataset.h"
#include "data/loader/batch_maker.h"
#include "machine/gpu/gpu_facts.h"
#include "models/model.h"
#include "run/plan/replica_set_options.h"
#include "run/plan/select_kernels.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

const std::string folder = "/usr/share/datasets/fashion-mnist";  // of Debian's dataset-fashion-mnist
constexpr int64_t globalBatch = 128, testBatch = 500;
constexpr std::array<int64_t, 3> seeds{1, 2, 3};
constexpr int64_t twoEpochs = 2 * 60'000 / globalBatch;
// Too large at first, so steps are skipped until it fits, and then tried larger again and again.
constexpr LossScaleRule restlessScale{.initial = 0x1p24, .growthInterval = 100};

/// What is trained, and where.
struct Training {
  std::string model, devices, precision;
  int64_t steps;
  double learningRate;
  int64_t seed;
  std::string compression = {};  // of gradients, on two replicas; "none": they exchange them whole; empty: one replica

  std::string name() const {
    return concat(std::filesystem::path(model).stem().string(), " on ", devices, " in ", precision, ", seed ", seed,
                  compression.empty() ? "" : concat(", 2 replicas, compression ", compression));
  }
  auto operator<=>(const Training&) const = default;  // NOLINT(modernize-use-nullptr): its 0 is no pointer
};

Training resnet(const std::string& precision, int64_t seed, const std::string& devices = "cpu") {
  return {"resnet20", devices, precision, twoEpochs, 0.1, seed};
}

/// On two replicas.
Training compressed(const std::string& compression, int64_t seed) {
  Training training = resnet("fp32", seed);
  training.compression = compression;
  return training;
}

/// Two strided convolutions with batch-norm, less than a hundredth of ResNet-20's arithmetic: on a CPU fp16 takes
/// ATen's convolutions, with which that would take hours, and this about a minute.
Training strided(const std::string& precision, int64_t seed) {
  return {concat(testsFolder(), "/run/strided_net.json"), "cpu", precision, twoEpochs, 0.1, seed};
}

/// With the rate going to zero along a cosine: what is left at the end is small steps, so that seeds differ little.
RunPlan planOf(const Training& training) {
  Config config;
  config.network.model = training.model;
  config.input.data = folder;
  config.placement.devices = training.devices;
  config.numerics.precision = training.precision;
  config.step.batch = globalBatch;
  if (!training.compression.empty()) {
    config.placement.replicas = 2, config.placement.oversubscribe = true;
    config.measurement.scaling = "strong";
    const bool whole = training.compression == "none";
    config.exchange.strategy = whole ? "replicated" : "compressed";
    if (!whole) config.exchange.compression = training.compression;
  }
  config.input.augment = "none";
  config.step.learningRate = training.learningRate;
  config.step.schedule = "warmup-cosine";
  config.step.seed = training.seed;
  config.measurement.warmup = concat(0);
  config.measurement.steps = training.steps;
  return resolvePlan(config);
}

/// Percent of the test images whose largest output is that of their label, with running statistics.
double top1(Executor& executor, const ReplicaSetOptions& team, const RunPlan& plan) {
  const std::shared_ptr<const Dataset> tests = openDataset(plan.config.input.data, {.split = DataSplit::test});
  const int64_t size = plan.config.network.imageSize;
  const BatchPlan inOrder{
      .globalBatch = testBatch, .count = testBatch, .height = size, .width = size, .shuffle = false};
  const SourceOptions options{.batches = std::make_shared<BatchMaker>(tests, inOrder),
                              .form = {.device = &team.devices[0],
                                       .type = team.precision->compute,
                                       .format = team.kernels.layout.format,
                                       .zeroChannels = team.kernels.zeroChannels},
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

struct Trained {
  double top1 = 0;
  std::optional<LossScaleState> lossScale;
};

Trained train(const Training& training) {
  const RunPlan plan = planOf(training);
  const Graph graph = buildModel(plan.config.network.model,
                                 {.classes = plan.config.network.classes, .imageSize = plan.config.network.imageSize});
  ReplicaSetOptions options = trainingOptions(plan, selectKernels(plan, *plan.graph));
  options.lossScale = restlessScale;
  Trained trained;
  ReplicaSet(options).run([&](ReplicaSet::Member& member) {
    for (int64_t step = 0; step < plan.config.measurement.steps; ++step) member.step();
    member.finish();
    if (member.index() != 0) return;  // all hold the same weights; each has statistics of its own
    trained = {top1(member.executor(), options, plan), member.lossScale()};
  });
  std::cout << training.name() << ": top-1 " << fixed(trained.top1, 2) << " %" << std::endl;
  return trained;
}

/// Trained once per process, so that a filter can pick a single training and the whole suite still trains each once.
const Trained& outcomeOf(const Training& training) {
  static std::map<Training, Trained> known;
  const auto [found, missing] = known.try_emplace(training);
  if (missing) found->second = train(training);
  return found->second;
}

/// Of a training by seed. A single one is right or wrong on some tens of images by chance.
template <class OfSeed>
double meanTop1(const OfSeed& ofSeed) {
  std::vector<double> accuracies;
  for (const int64_t seed : seeds) accuracies.push_back(outcomeOf(ofSeed(seed)).top1);
  return *mean(accuracies);
}

bool isInstalled() { return std::filesystem::exists(folder); }

class Accuracy : public testing::TestWithParam<std::tuple<std::string, int64_t>> {};

TEST_P(Accuracy, OfFashionMnistIsReached) {
  if (!isInstalled()) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const auto& [precision, seed] = GetParam();
  EXPECT_GT(outcomeOf(resnet(precision, seed)).top1, 90) << precision << ", seed " << seed;
}

INSTANTIATE_TEST_SUITE_P(Long, Accuracy, testing::Combine(testing::Values("fp32", "bf16"), testing::ValuesIn(seeds)),
                         [](const auto& info) {
                           return concat(std::get<0>(info.param), "_seed", std::get<1>(info.param));
                         });

TEST(LongAccuracy, OfBf16IsThatOfFp32WithinHalfAPoint) {
  if (!isInstalled()) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const double fp32 = meanTop1([](int64_t seed) { return resnet("fp32", seed); });
  const double bf16 = meanTop1([](int64_t seed) { return resnet("bf16", seed); });
  std::cout << "mean of fp32 " << fixed(fp32, 2) << " %, of bf16 " << fixed(bf16, 2) << " %" << std::endl;
  EXPECT_LE(std::abs(fp32 - bf16), 0.5) << "points";
}

/// Gradients reached fp16 through a scale that was found, and that few steps were lost to.
void expectScaled(const Training& training) {
  const auto& scale = outcomeOf(training).lossScale;
  ASSERT_TRUE(scale) << training.name();
  EXPECT_GT(scale->scale, 1) << training.name();
  EXPECT_GT(scale->skipped, 0) << training.name();
  EXPECT_LT(scale->skipped, training.steps / 10) << training.name();
}

// In PyTorch six seeds of this training in fp32 reach 87.65 to 88.12 %, with a standard deviation of 0.17 points. Means
// of three then differ by 0.14 by chance, of which half a point is more than three times; three in fp16 reached 87.90.
TEST(LongAccuracy, OfFp16WithAScaledLossIsThatOfFp32WithinHalfAPoint) {
  if (!isInstalled()) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const double fp32 = meanTop1([](int64_t seed) { return strided("fp32", seed); });
  const double fp16 = meanTop1([](int64_t seed) { return strided("fp16", seed); });
  std::cout << "mean of fp32 " << fixed(fp32, 2) << " %, of fp16 " << fixed(fp16, 2) << " %" << std::endl;
  EXPECT_GT(fp32, 86);
  EXPECT_LE(std::abs(fp32 - fp16), 0.5) << "points";
  for (const int64_t seed : seeds) expectScaled(strided("fp16", seed));
}

// Measured, means of three seeds: whole gradients 91.56 %, powersgd 0.75 points below, onebit 1.08 points below. So a
// point does not hold for onebit, which has half a point more. (topk by default sends a hundredth of the values, which
// is no rival in two epochs.)
TEST(LongAccuracy, OfCompressedGradientsIsNearThatOfWholeOnes) {
  if (!isInstalled()) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const double whole = meanTop1([](int64_t seed) { return compressed("none", seed); });
  EXPECT_GT(whole, 90);
  for (const auto& [method, points] : {std::pair{"powersgd", 1.0}, {"onebit", 1.5}}) {
    const double found = meanTop1([method](int64_t seed) { return compressed(method, seed); });
    std::cout << "mean of whole gradients " << fixed(whole, 2) << " %, of " << method << ' ' << fixed(found, 2) << " %"
              << std::endl;
    EXPECT_LE(whole - found, points) << method;
  }
}

// Whatever the GPU serves, beside its own fp32.
TEST(LongOnAGpu, EveryPrecisionReachesTheAccuracyOfFp32) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  if (!isInstalled()) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const double fp32 = meanTop1([](int64_t seed) { return resnet("fp32", seed, "cuda:0"); });
  EXPECT_GT(fp32, 90);
  for (const Precision& precision : precisions()) {
    if (whyNotOn(cudaFacts().gpus.at(0).capability, precision)) continue;
    const std::string name(precision.name);
    const double accuracy = meanTop1([&](int64_t seed) { return resnet(name, seed, "cuda:0"); });
    std::cout << "mean of " << name << ' ' << fixed(accuracy, 2) << " %" << std::endl;
    EXPECT_LE(std::abs(fp32 - accuracy), 0.5) << "points, " << name;
    if (!precision.lossScaling) continue;
    for (const int64_t seed : seeds) expectScaled(resnet(name, seed, "cuda:0"));
  }
}

}  // namespace
}  // namespace tandem

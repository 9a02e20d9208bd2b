#include "run/inference.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/catalog.h"
#include "base/error.h"
#include "graph/state.h"
#include "models/model.h"
#include "run/output_activation.h"

namespace tandem {
namespace {

DatasetInfo cifar() {
  DatasetInfo info;
  info.height = info.width = 32;
  info.classes = 10;
  return info;
}

/// Images of which some cannot be read, of these some not their label either.
class Images final : public Dataset {
 public:
  Images(int64_t size, std::vector<int64_t> bad, std::vector<int64_t> unlabelled = {})
      : images_(syntheticDataset(size, cifar(), 3)), bad_(std::move(bad)), unlabelled_(std::move(unlabelled)) {}
  const DatasetInfo& info() const override { return images_->info(); }
  int64_t size() const override { return images_->size(); }
  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    const Sample sample = images_->read(index, memory, label);
    if (std::ranges::find(unlabelled_, index) != unlabelled_.end()) storeClass(-1, label);
    if (std::ranges::find(bad_, index) != bad_.end()) throw DataError(concat("image ", index, ": torn"));
    return sample;
  }

 private:
  std::unique_ptr<Dataset> images_;
  std::vector<int64_t> bad_, unlabelled_;
};

RunPlan planOf(int64_t replicas, int64_t batch, const char* padImages = "auto") {
  Config config;
  config.network.model = "resnet20";
  config.numerics.layout = "nhwc";
  config.numerics.convolution = "direct";
  config.placement.replicas = replicas;
  config.step.batch = batch;
  config.placement.oversubscribe = true;
  config.step.forwardOnly = true;
  config.numerics.padImages = padImages;
  return resolvePlan(config);
}

InferenceResult run(int64_t replicas, int64_t batch, const Dataset& images, bool skipBad,
                    std::shared_ptr<const Pretrained> pretrained = nullptr) {
  const RunPlan plan = planOf(replicas, batch);
  const Graph graph = buildModel("resnet20", {});
  return runInference({&plan, &graph, std::move(pretrained), &images, paddedOnly(), skipBad});
}

TEST(Inference, DoesNotDependOnReplicasAndBatches) {
  const Images images(11, {});
  const InferenceResult one = run(1, 11, images, false), three = run(3, 2, images, false);
  EXPECT_EQ(one.outputs.sizes(), (at::IntArrayRef{11, 10}));
  EXPECT_TRUE(at::allclose(one.outputs, three.outputs, 1e-4, 1e-5));
  EXPECT_FALSE(at::allclose(one.outputs[0], one.outputs[1]));
  EXPECT_EQ(one.images, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_TRUE(at::equal(one.labels, three.labels));
  EXPECT_GE(one.labels.min().item<int64_t>(), 0);
  EXPECT_GT(one.seconds, 0);
}

TEST(Inference, SeesTheSameWithPaddedImages) {
  const Images images(5, {});
  const Graph graph = buildModel("resnet20", {});
  const RunPlan padded = planOf(1, 5, "8");
  const InferenceResult wide = runInference({&padded, &graph, nullptr, &images, paddedOnly(), false});
  EXPECT_TRUE(at::allclose(wide.outputs, run(1, 5, images, false).outputs, 1e-4, 1e-5));
}

TEST(Inference, IsTheMeanOverTheViews) {
  const Images images(5, {});
  const Graph graph = buildModel("resnet20", {});
  RunPlan plan = planOf(1, 5);
  plan.setup.views = &find(evaluationViews(), "mirror", "views");
  const at::Tensor both = runInference({&plan, &graph, nullptr, &images, paddedOnly(), false}).outputs;
  const at::Tensor own = run(1, 5, images, false).outputs;
  const TransformChain mirrored = TransformChain::parse("pad+flip:1", "--augment");
  const RunPlan usual = planOf(1, 5);
  const at::Tensor other = runInference({&usual, &graph, nullptr, &images, mirrored, false}).outputs;
  EXPECT_FALSE(at::allclose(own, other, 1e-2, 1e-2));
  EXPECT_TRUE(at::allclose(both, (own + other) / 2, 1e-4, 1e-5));
}

TEST(Inference, LeavesOutBadImagesWhereAsked) {
  const Images good(7, {}), torn(7, {1, 6});
  const InferenceResult all = run(1, 3, good, false), some = run(2, 3, torn, true);
  EXPECT_EQ(some.images, (std::vector<int64_t>{0, 2, 3, 4, 5}));
  ASSERT_EQ(some.bad.size(), 2U);
  EXPECT_EQ(some.bad[1].index, 6);
  EXPECT_EQ(some.bad[1].reason, "image 6: torn");
  const at::Tensor expected = all.outputs.index_select(0, at::tensor(some.images, at::kLong));
  EXPECT_TRUE(at::allclose(some.outputs, expected, 1e-4, 1e-5));
  EXPECT_THROW(run(2, 3, torn, false), DataError);
  EXPECT_EQ(run(1, 4, Images(3, {0, 1, 2}), true).outputs.size(0), 0);
}

TEST(Inference, BlackensBadImagesThatHaveALabel) {
  const Images good(7, {}), torn(7, {1, 2, 6}, {2});
  const RunPlan plan = planOf(2, 3);
  const Graph graph = buildModel("resnet20", {});
  const InferenceResult all = run(1, 7, good, false);
  const InferenceResult some = runInference({.plan = &plan,
                                             .graph = &graph,
                                             .pretrained = nullptr,
                                             .images = &torn,
                                             .chain = paddedOnly(),
                                             .blackenBad = true});
  EXPECT_EQ(some.images, (std::vector<int64_t>{0, 1, 3, 4, 5, 6}));
  EXPECT_TRUE(at::equal(some.labels, all.labels.index_select(0, at::tensor(some.images, at::kLong))));
  std::vector<bool> leftOut;
  for (const BadImage& bad : some.bad) leftOut.push_back(bad.leftOut);
  EXPECT_EQ(leftOut, (std::vector{false, true, false}));
}

TEST(Inference, RefusesOutputsThatAreNotFinite) {
  auto broken = std::make_shared<Pretrained>();
  broken->parameters.emplace_back("fc.bias", at::full({10}, NAN));
  try {
    run(1, 4, Images(5, {}), false, broken);
    ADD_FAILURE() << "accepted";
  } catch (const NumericError& error) {
    EXPECT_NE(std::string(error.what()).find("image 0 (from 0): resnet20 gives values that are not finite"),
              std::string::npos)
        << error.what();
  }
}

TEST(Inference, FeaturesTimesTheHeadAreTheLogits) {
  const RunPlan plan = planOf(2, 3);
  const Graph graph = buildModel("resnet20", {}), part = featureGraph(graph);
  auto weights = std::make_shared<Pretrained>();
  const at::Tensor matrix = at::randn({10, 64}), bias = at::randn({10});
  weights->parameters = {{"fc.weight", matrix}, {"fc.bias", bias}};
  const Images images(5, {});
  const at::Tensor features = runInference({&plan, &part, weights, &images}).outputs;
  const at::Tensor logits = runInference({&plan, &graph, weights, &images}).outputs;
  EXPECT_EQ(features.sizes(), (at::IntArrayRef{5, 64}));
  EXPECT_TRUE(at::allclose(at::matmul(features, matrix.t()) + bias, logits, 1e-4, 1e-4));
}

TEST(Scores, AreProbabilitiesOfOneOrOfEachClass) {
  const at::Tensor outputs = at::tensor({0.0, 1.0, 3.0}, at::kFloat).view({1, 3});
  const auto of = [&](const char* name) { return find(scores(), name, "scores").of(outputs); };
  EXPECT_NEAR(of("softmax").sum().item<double>(), 1, 1e-6);
  EXPECT_NEAR(of("softmax")[0][2].item<double>(), std::exp(3) / (1 + std::exp(1) + std::exp(3)), 1e-6);
  EXPECT_NEAR(of("sigmoid")[0][1].item<double>(), 1 / (1 + std::exp(-1)), 1e-6);
  EXPECT_TRUE(at::equal(of("logits"), outputs));
}

}  // namespace
}  // namespace tandem

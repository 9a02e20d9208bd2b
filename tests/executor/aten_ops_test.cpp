#include "executor/aten_ops.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <numbers>

#include "base/text.h"
#include "support/relative_error.h"

namespace tandem {
namespace {

struct Pooled {
  at::Tensor output, gradient;  // of the input
};

template <class Pool>
Pooled pooled(const at::Tensor& values, const Pool& pool) {
  const at::AutoGradMode gradients(true);
  const at::Tensor leaf = values.detach().requires_grad_();
  const at::Tensor output = pool(leaf);
  const at::Tensor given = at::cos(at::arange(output.numel())).view_as(output).to(output.scalar_type());
  return {output.detach(), torch::autograd::grad({output}, {leaf}, {given})[0]};
}

struct PoolCase {
  int64_t height, width, poolH, poolW;
};

/// As it is, evenly divided, overlapping windows (GoogLeNet's auxiliary heads), more outputs than inputs.
const std::vector<PoolCase>& poolCases() {
  static const std::vector<PoolCase> cases{{7, 7, 7, 7}, {12, 18, 6, 6}, {14, 14, 4, 4}, {13, 9, 6, 4}, {2, 3, 7, 7}};
  return cases;
}

void expectAsAten(const PoolCase& given, at::ScalarType type, double allowed) {
  const at::Tensor values = at::sin(at::arange(2 * 5 * given.height * given.width))
                                .view({2, 5, given.height, given.width})
                                .to(type)
                                .contiguous(at::MemoryFormat::ChannelsLast);
  const Attributes attributes{.poolH = given.poolH, .poolW = given.poolW};
  const Pooled own = pooled(values, [&](const at::Tensor& x) {
    OperationArguments arguments{
        .attributes = attributes, .inputs = {x}, .weight = {}, .bias = {}, .runningMean = {}, .runningVar = {}};
    return atenOp("adaptive_avg_pool")(arguments);
  });
  const Pooled exact = pooled(values.to(at::kDouble), [&](const at::Tensor& x) {
    return at::adaptive_avg_pool2d(x, {given.poolH, given.poolW});
  });
  const std::string what = concat(given.height, 'x', given.width, " to ", given.poolH, 'x', given.poolW);
  EXPECT_EQ(own.output.scalar_type(), type);
  EXPECT_TRUE(own.output.is_contiguous(at::MemoryFormat::ChannelsLast)) << what;
  EXPECT_LE(relativeError(own.output, exact.output), allowed) << what;
  EXPECT_LE(relativeError(own.gradient, exact.gradient), allowed) << what;
}

class AdaptivePool : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { at::globalContext().setDeterministicAlgorithms(GetParam(), /*warn_only=*/false); }
  void TearDown() override { at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/false); }
};

TEST_P(AdaptivePool, IsAtensOfAnySize) {
  for (const PoolCase& given : poolCases()) {
    expectAsAten(given, at::kFloat, 1e-6);
    expectAsAten(given, at::kBFloat16, 1e-2);
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, AdaptivePool, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Deterministic" : "Any"; });

TEST(AdaptivePoolView, OfItsOwnSizeTheInputIsTheOutput) {
  const at::Tensor x = at::rand({1, 2, 3, 3});
  const Attributes attributes{.poolH = 3, .poolW = 3};
  OperationArguments arguments{
      .attributes = attributes, .inputs = {x}, .weight = {}, .bias = {}, .runningMean = {}, .runningVar = {}};
  EXPECT_EQ(atenOp("adaptive_avg_pool")(arguments).data_ptr(), x.data_ptr());
  EXPECT_FALSE(outputMayBeOverwritten("adaptive_avg_pool")) << "it may be an input of others";
}

at::Tensor madeBy(std::string_view operation, const at::Tensor& x, const Attributes& attributes,
                  const at::Tensor& weight = {}) {
  OperationArguments arguments{
      .attributes = attributes, .inputs = {x}, .weight = weight, .bias = {}, .runningMean = {}, .runningVar = {}};
  return atenOp(operation)(arguments);
}

TEST(Channels, AreShuffledAndTakenInOrder) {
  const at::Tensor x = at::arange(6, at::kFloat).view({1, 6, 1, 1}).expand({2, 6, 3, 2});
  const auto channelsOf = [](const at::Tensor& value) { return value.select(0, 1).select(1, 2).select(1, 1); };
  EXPECT_TRUE(
      channelsOf(madeBy("channel_shuffle", x, {.groups = 2})).equal(at::tensor({0.F, 3.F, 1.F, 4.F, 2.F, 5.F})));
  EXPECT_TRUE(
      channelsOf(madeBy("channel_shuffle", x, {.groups = 3})).equal(at::tensor({0.F, 2.F, 4.F, 1.F, 3.F, 5.F})));
  EXPECT_TRUE(channelsOf(madeBy("channel_range", x, {.outputs = 2, .first = 3})).equal(at::tensor({3.F, 4.F})));
}

TEST(HardActivations, AreThoseOfTheirFormula) {
  const at::Tensor x = at::tensor({-4.F, -3.F, -1.F, 0.F, 1.5F, 3.F, 5.F});
  const at::Tensor gate = at::tensor({0.F, 0.F, 2 / 6.F, 0.5F, 0.75F, 1.F, 1.F});
  EXPECT_LE(relativeError(madeBy("hard_sigmoid", x, {}), gate), 1e-6);
  EXPECT_LE(relativeError(madeBy("hard_swish", x, {}), x * gate), 1e-6);
}

TEST(Gelu, IsThatOfItsFormula) {
  const at::Tensor x = at::linspace(-6, 6, 49, at::kDouble);
  EXPECT_LE(relativeError(madeBy("gelu", x, {}), x * (1 + at::erf(x / std::sqrt(2.0))) / 2), 1e-14);
  const at::Tensor argument = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x.pow(3));
  EXPECT_LE(relativeError(madeBy("gelu_tanh", x, {}), x * (1 + at::tanh(argument)) / 2), 1e-14);
}

TEST(DilatedConvolution, ReadsPixelsApart) {
  const at::Tensor x = at::arange(35, at::kFloat).view({1, 1, 5, 7});
  const at::Tensor weight = at::tensor({1.F, 10.F, 100.F, 1000.F}).view({1, 1, 2, 2});
  const at::Tensor made =
      madeBy("dilated_conv", x, {.outputs = 1, .kernelH = 2, .kernelW = 2, .dilationH = 3, .dilationW = 5}, weight);
  EXPECT_EQ(made.sizes(), (std::vector<int64_t>{1, 1, 2, 2}));
  EXPECT_EQ(made[0][0][1][1].item<float>(), 8 + 10 * 13 + 100 * 29 + 1000 * 34);
}

}  // namespace
}  // namespace tandem

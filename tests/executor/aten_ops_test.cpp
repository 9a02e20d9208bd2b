#include "executor/aten_ops.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

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

}  // namespace
}  // namespace tandem

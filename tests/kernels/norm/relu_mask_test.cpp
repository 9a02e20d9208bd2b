// The ReLU's mask that forward keeps on a GPU where there is a residual.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/text.h"
#include "kernels/norm/gpu_relu_mask.h"
#include "norm_act_ways.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

using Case = std::tuple<std::array<int64_t, 4>, at::ScalarType, bool /*training*/>;

/// The same values from an odd place in memory on, where no wide access is allowed.
at::Tensor shifted(const at::Tensor& tensor) {
  const at::Tensor memory = at::empty({tensor.numel() + 1}, tensor.options());
  return memory.as_strided(tensor.sizes(), tensor.strides(), 1).copy_(tensor);
}

class ReluMasks : public testing::TestWithParam<Case> {
 protected:
  ReluMasks() {
    at::manual_seed(9);
    options_.activation = Activation::relu, options_.training = std::get<2>(GetParam());
    x_ = images(), residual_ = images(), dy_ = images(), otherDy_ = images();
    // Sums that are zero, or that only rounding to a half makes zero, and in evaluation some that are no numbers.
    const at::Tensor alone = at::rand(x_.sizes()).contiguous(channelsLast) < 0.25;
    residual_.masked_fill_(alone, 0);
    if (options_.training) return;
    x_.masked_fill_(alone, 0);
    residual_.select(0, 0).select(1, 0).fill_(std::nan(""));
  }

  at::Tensor images() const {
    return at::randn(std::get<0>(GetParam())).to(std::get<1>(GetParam())).contiguous(channelsLast);
  }

  /// In evaluation a value x becomes x + 1e-9.
  NormParameters parametersOn(at::Device device) const {
    const at::Tensor zeros = at::zeros({x_.size(1)}, device), ones = at::ones({x_.size(1)}, device);
    return {ones, zeros + 1e-9, zeros.clone(), ones.clone()};
  }

  at::Tensor forward(const Way& way, const at::Tensor& residual, NormActSaved& saved) const {
    return way.forward(x_.to(way.device), residual.to(way.device), parametersOn(way.device), options_, saved);
  }

  NormActGradients backward(const Way& way, std::vector<at::Tensor> gradients, const NormActSaved& saved) const {
    for (at::Tensor& gradient : gradients) gradient = gradient.to(way.device);
    return way.backward(std::move(gradients), saved, /*hasResidual=*/true, options_);
  }

  /// The definition, of the output as it was rounded.
  static at::Tensor masked(const at::Tensor& dy, const at::Tensor& y) {
    return at::threshold_backward(dy.to(y.device()), y, 0);
  }

  NormActOptions options_;
  at::Tensor x_, residual_, dy_, otherDy_;
};

TEST_P(ReluMasks, MaskAsTheDefinitionDoes) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    NormActSaved saved;
    const at::Tensor y = forward(way, residual_, saved);
    EXPECT_TRUE(backward(way, {dy_}, saved).residual.equal(masked(dy_, y)));
    const at::Tensor sum = (dy_.to(at::kFloat) + otherDy_.to(at::kFloat)).to(y.scalar_type());
    EXPECT_TRUE(backward(way, {dy_, otherDy_}, saved).residual.equal(masked(sum, y)));
  }
}

TEST_P(ReluMasks, AreKeptOnAGpuInPlaceOfTheOutput) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    const bool onGpu = way.simulated || way.device.is_cuda();
    NormActSaved saved;
    const at::Tensor y = forward(way, residual_, saved);
    EXPECT_EQ(saved.reluMask.defined(), onGpu);
    EXPECT_EQ(saved.y.defined(), !onGpu);
    if (onGpu && y.size(1) % 8 == 0) {
      EXPECT_EQ(16 * saved.reluMask.nbytes(), y.nbytes());
    }
    NormActOptions without = options_;
    without.activation = Activation::none;
    way.forward(x_.to(way.device), residual_.to(way.device), parametersOn(way.device), without, saved);
    EXPECT_FALSE(saved.reluMask.defined()) << "no ReLU";
    way.forward(x_.to(way.device), {}, parametersOn(way.device), options_, saved);
    EXPECT_FALSE(saved.reluMask.defined()) << "no residual: the mask follows from x";
  }
}

// As a forward leaves it that kept nothing, and whose output somebody else held.
TEST_P(ReluMasks, AndTheOutputGiveTheSameBits) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    NormActSaved saved;
    const at::Tensor y = forward(way, residual_, saved);
    const NormActGradients kept = backward(way, {dy_, otherDy_}, saved);
    saved.reluMask.reset();
    normActKeep(saved.x, y, /*hasResidual=*/true, options_, saved);
    ASSERT_TRUE(saved.y.defined());
    const NormActGradients fromOutput = backward(way, {dy_, otherDy_}, saved);
    EXPECT_TRUE(kept.x.equal(fromOutput.x));
    EXPECT_TRUE(kept.residual.equal(fromOutput.residual));
    EXPECT_TRUE(kept.scale.equal(fromOutput.scale));
  }
}

// A byte of the mask then holds more or fewer values than backward reads at once.
TEST_P(ReluMasks, ServeWhereverTensorsLieInMemory) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    NormActSaved saved;
    at::Tensor y = forward(way, residual_, saved);
    EXPECT_TRUE(backward(way, {shifted(dy_)}, saved).residual.equal(masked(dy_, y)));
    y = way.forward(x_.to(way.device), shifted(residual_.to(way.device)), parametersOn(way.device), options_, saved);
    EXPECT_TRUE(backward(way, {dy_}, saved).residual.equal(masked(dy_, y)));
  }
}

std::string nameOf(const testing::TestParamInfo<Case>& row) {
  const auto& [shape, type, training] = row.param;
  return concat(shape[0], "x", shape[1], "x", shape[2], "x", shape[3], "_", c10::toString(type),
                training ? "_train" : "_eval");
}

// Whole accesses forward and backward; one channel, odd numbers of them; accesses of four values, but not of eight;
// more channels than a block has side by side; several chunks.
INSTANTIATE_TEST_SUITE_P(
    Shapes, ReluMasks,
    testing::Combine(testing::Values(std::array<int64_t, 4>{2, 16, 5, 7}, std::array<int64_t, 4>{3, 1, 9, 5},
                                     std::array<int64_t, 4>{2, 37, 3, 3}, std::array<int64_t, 4>{3, 100, 6, 5},
                                     std::array<int64_t, 4>{2, 264, 9, 8}, std::array<int64_t, 4>{3, 48, 41, 29}),
                     testing::Values(at::kFloat, at::kBFloat16, at::kHalf), testing::Bool()),
    nameOf);

}  // namespace
}  // namespace tandem

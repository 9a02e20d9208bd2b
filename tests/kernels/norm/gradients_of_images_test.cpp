#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "kernels/channel/channel_gate.h"
#include "kernels/conv/nchwc.h"
#include "kernels/norm/norm_act.h"
#include "support/precisions.h"
#include "support/relative_error.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

using Case = std::tuple<int64_t /*channels*/, at::ScalarType, bool /*residual*/, bool /*blocked*/>;

/// Batch-norm whose output a global pool reads too: that gradient is one number for each channel of an image.
class GradientsOfImages : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto [channels, type, residual, blocked] = GetParam();
    at::manual_seed(7);
    const auto images = [&, type = type, blocked = blocked, channels = channels](int64_t height, int64_t width) {
      const at::Tensor made = at::randn({3, channels, height, width}).to(type).contiguous(channelsLast);
      return blocked ? toBlocked(made) : made;
    };
    options_.activation = residual ? Activation::relu : Activation::silu;
    full_ = images(6, 5), numbers_ = images(1, 1);
    const NormParameters parameters{at::rand({channels}) + 0.5, at::randn({channels}), at::zeros({channels}),
                                    at::ones({channels})};
    normAct(images(6, 5), residual ? images(6, 5) : at::Tensor(), parameters, options_, saved_);
  }

  at::Tensor view() const { return channelMeansBackward(numbers_, full_.sizes()); }

  NormActGradients gradients(const std::vector<at::Tensor>& ofOutput) const {
    return normActBackward(ofOutput, saved_, std::get<2>(GetParam()), options_);
  }

  static void expectEqual(const NormActGradients& actual, const NormActGradients& expected) {
    const double bound = 2 * unitOf(std::get<1>(GetParam())) + 8 * unitOf(at::kFloat);
    EXPECT_LE(relativeError(actual.x, expected.x), bound);
    EXPECT_LE(relativeError(actual.scale, expected.scale), bound);
    EXPECT_LE(relativeError(actual.shift, expected.shift), bound);
    if (!expected.residual.defined()) return;
    EXPECT_LE(relativeError(actual.residual, expected.residual), bound);
  }

  NormActOptions options_;
  NormActSaved saved_;
  at::Tensor full_, numbers_;
};

TEST_P(GradientsOfImages, CountForEachPixel) {
  const NormActGradients expected = gradients({full_, view().contiguous(channelsLast)});
  expectEqual(gradients({full_, view()}), expected);
  expectEqual(gradients({view(), full_}), expected);
  EXPECT_GT(relativeError(expected.x, gradients({full_}).x), 0.01) << "the second gradient must matter";
}

// Twice a number is exact, so that both sums have the same terms. (Dense ones would be added in bf16.)
TEST_P(GradientsOfImages, OfSeveralReadersAreAdded) {
  expectEqual(gradients({view(), full_, view()}), gradients({full_, (view() * 2).contiguous(channelsLast)}));
}

TEST_P(GradientsOfImages, MayBeAllThereIs) {
  const at::Tensor dense = view().contiguous(channelsLast);
  expectEqual(gradients({view()}), gradients({dense}));
  expectEqual(gradients({view(), view()}), gradients({dense, dense}));
}

INSTANTIATE_TEST_SUITE_P(NormAct, GradientsOfImages,
                         testing::Combine(testing::Values(16, 48, 96), testing::Values(at::kFloat, at::kBFloat16),
                                          testing::Bool(), testing::Bool()),
                         [](const auto& row) {
                           return std::to_string(std::get<0>(row.param)) + '_' + c10::toString(std::get<1>(row.param)) +
                                  (std::get<2>(row.param) ? "_residual" : "_silu") +
                                  (std::get<3>(row.param) ? "_blocked" : "_nhwc");
                         });

class AddGradients : public testing::TestWithParam<std::pair<int64_t, int64_t>> {};

TEST_P(AddGradients, OneNumberForEachChannelOfAnImageBecomesNhwc) {
  const auto [height, width] = GetParam();  // of 12 pixels
  const at::Tensor full = at::randn({2, 8, height, width}).contiguous(channelsLast);
  const at::Tensor numbers = at::randn({2, 8, 1, 1});
  const auto view = [&] { return channelMeansBackward(numbers, full.sizes()); };
  const at::Tensor expected = full + numbers / 12.0;
  EXPECT_TRUE(at::allclose(addGradients({view(), full}), expected));
  EXPECT_TRUE(at::allclose(addGradients({full, view()}), expected));
  EXPECT_TRUE(addGradients({view()}).is_contiguous(channelsLast));
  EXPECT_TRUE(at::allclose(addGradients({view(), view()}), (numbers / 6.0).expand_as(full)));
}

INSTANTIATE_TEST_SUITE_P(Images, AddGradients, testing::Values(std::pair{3, 4}, std::pair{1, 12}, std::pair{12, 1}),
                         [](const auto& row) {
                           return std::to_string(row.param.first) + 'x' + std::to_string(row.param.second);
                         });

}  // namespace
}  // namespace tandem

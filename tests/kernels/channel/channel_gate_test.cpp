#include "kernels/channel/channel_gate.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "kernels/conv/nchwc.h"
#include "support/precisions.h"
#include "support/relative_error.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

struct Shape {
  int64_t images, channels, height, width;
};

/// Everything that the operations give.
struct Results {
  at::Tensor means, ofMeans, product, x, gate;
};

class ChannelGate : public testing::TestWithParam<std::tuple<Shape, at::ScalarType>> {
 protected:
  ChannelGate() {
    const Shape& s = std::get<0>(GetParam());
    at::manual_seed(5);
    const auto images = [&](int64_t height, int64_t width) {
      return at::randn({s.images, s.channels, height, width}).to(type()).contiguous(channelsLast);
    };
    x_ = (images(s.height, s.width) + 2).to(type());
    gradient_ = images(s.height, s.width);
    gate_ = images(1, 1), ofMeans_ = images(1, 1);
  }

  static at::ScalarType type() { return std::get<1>(GetParam()); }

  static Results computed(const at::Tensor& x, const at::Tensor& gate, const at::Tensor& gradient,
                          const at::Tensor& ofMeans) {
    const ChannelProductGradients gradients = channelProductBackward(gradient, x, gate);
    return {channelMeans(x), channelMeansBackward(ofMeans, x.sizes()), channelProduct(x, gate), gradients.x,
            gradients.gate};
  }

  Results expected() const {
    const at::Tensor x = x_.to(at::kDouble), gate = gate_.to(at::kDouble), gradient = gradient_.to(at::kDouble);
    const auto pixels = static_cast<double>(x.size(2) * x.size(3));
    return {x.mean({2, 3}, true), (ofMeans_.to(at::kDouble) / pixels).expand_as(x), x * gate, gradient * gate,
            (gradient * x).sum({2, 3}, true)};
  }

  // Results are rounded once, from sums in fp32. The terms of the gate's gradient have both signs, and may cancel.
  static void expectNear(const Results& actual, const Results& exact) {
    const double bound = 2 * unitOf(type()) + 16 * unitOf(at::kFloat);
    EXPECT_LE(relativeError(actual.means, exact.means), bound);
    EXPECT_LE(relativeError(actual.ofMeans, exact.ofMeans), bound);
    EXPECT_LE(relativeError(actual.product, exact.product), bound);
    EXPECT_LE(relativeError(actual.x, exact.x), bound);
    EXPECT_LE(relativeError(actual.gate, exact.gate), bound);
  }

  at::Tensor x_, gate_, gradient_, ofMeans_;
};

TEST_P(ChannelGate, EqualsExactResultsRoundedOnce) {
  const Results actual = computed(x_, gate_, gradient_, ofMeans_);
  for (const at::Tensor& each : {actual.means, actual.product, actual.x, actual.gate}) {
    EXPECT_EQ(each.scalar_type(), type());
  }
  EXPECT_TRUE(actual.product.is_contiguous(channelsLast));
  expectNear(actual, expected());
}

TEST_P(ChannelGate, OfOtherLayoutsIsAtens) {
  expectNear(computed(x_.contiguous(), gate_.contiguous(), gradient_.contiguous(), ofMeans_), expected());
}

TEST_P(ChannelGate, OfBlocksIsTheSame) {
  if (x_.size(1) % 16 != 0) GTEST_SKIP() << "channels that are no whole blocks";
  Results actual = computed(toBlocked(x_), toBlocked(gate_), toBlocked(gradient_), toBlocked(ofMeans_));
  for (at::Tensor* each : {&actual.means, &actual.ofMeans, &actual.product, &actual.x, &actual.gate}) {
    *each = fromBlocked(each->contiguous(channelsLast), x_.size(0));
  }
  expectNear(actual, expected());
}

TEST_P(ChannelGate, ThreadsChangeNoBit) {
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const Results one = computed(x_, gate_, gradient_, ofMeans_);
  at::set_num_threads(3);
  const Results three = computed(x_, gate_, gradient_, ofMeans_);
  at::set_num_threads(before);
  EXPECT_TRUE(at::equal(one.means, three.means) && at::equal(one.product, three.product));
  EXPECT_TRUE(at::equal(one.x, three.x) && at::equal(one.gate, three.gate));
}

TEST_P(ChannelGate, AGradientThatSomebodyHoldsStays) {
  const at::Tensor before = gradient_.clone();
  const void* const there = gradient_.data_ptr();
  EXPECT_NE(channelProductBackward(gradient_, x_, gate_).x.data_ptr(), there);
  EXPECT_TRUE(at::equal(gradient_, before));
  EXPECT_EQ(channelProductBackward(std::move(gradient_), x_, gate_).x.data_ptr(), there);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ChannelGate,
                         testing::Combine(testing::Values(Shape{2, 16, 7, 5}, Shape{3, 40, 9, 4}, Shape{1, 5, 3, 3},
                                                          Shape{2, 96, 28, 28}, Shape{4, 48, 1, 2}),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf)),
                         [](const auto& row) {
                           const Shape& s = std::get<0>(row.param);
                           return std::to_string(s.images) + 'x' + std::to_string(s.channels) + 'x' +
                                  std::to_string(s.height) + 'x' + std::to_string(s.width) + '_' +
                                  c10::toString(std::get<1>(row.param));
                         });

TEST(ChannelGateTypes, OthersAreAtens) {
  const at::Tensor x = at::randn({2, 16, 5, 5}, at::kDouble).contiguous(channelsLast);
  const at::Tensor gate = at::randn({2, 16, 1, 1}, at::kDouble);
  EXPECT_TRUE(at::equal(channelProduct(x, gate), x * gate));
  EXPECT_TRUE(at::equal(channelMeans(x), at::adaptive_avg_pool2d(x, {1, 1})));
}

}  // namespace
}  // namespace tandem

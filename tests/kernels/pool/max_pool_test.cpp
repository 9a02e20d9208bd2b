#include "kernels/pool/max_pool.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "kernels/pool/max_pool_in_blocks.h"
#include "kernels/simulated_blocks.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;
constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

void onTheHost(const MaxPoolProgram& program, const at::Tensor&) {
  std::visit([](const auto& chosen) { simulate(chosen, simulationOrder()); }, program);
}

/// One way of running the kernels.
struct Way {
  std::string name;
  at::Device device;
  bool simulated;

  at::Tensor forward(const at::Tensor& x, const PoolWindow& window, MaxPoolSaved* saved) const {
    return simulated ? maxPoolInBlocks(onTheHost, x, window, saved) : maxPool(x, window, saved);
  }
  at::Tensor backward(const at::Tensor& gradient, const PoolWindow& window, const MaxPoolSaved& saved) const {
    return simulated ? maxPoolBackwardInBlocks(onTheHost, gradient, window, saved)
                     : maxPoolBackward(gradient, window, saved);
  }
};

std::vector<Way> ways() {
  std::vector<Way> all{{"a GPU's programs on the host", at::kCPU, true}};
  for (const at::Device device : testDevices()) all.push_back({device.str(), device, false});
  return all;
}

struct Pooled {
  at::Tensor y, places, gradient;  // places: in the window
};

/// ATen's of NCHW in fp64 on the CPU.
Pooled exact(const at::Tensor& given, const PoolWindow& w, const at::Tensor& outputGradient) {
  const at::Tensor x = given.to(at::kCPU, at::kDouble).contiguous();
  const auto [y, pixels] = at::max_pool2d_with_indices(x, w.kernel, w.stride, w.padding, {1, 1}, w.ceilMode);
  const auto begins = [&](int64_t windows, size_t axis) {
    return at::arange(windows) * w.stride[axis] - w.padding[axis];
  };
  const at::Tensor row = pixels.floor_divide(x.size(3)) - begins(y.size(2), 0).view({-1, 1});
  const at::Tensor column = pixels.remainder(x.size(3)) - begins(y.size(3), 1);
  const at::Tensor gradient =
      at::max_pool2d_with_indices_backward(outputGradient.to(at::kCPU, at::kDouble).contiguous(), x, w.kernel, w.stride,
                                           w.padding, {1, 1}, w.ceilMode, pixels);
  return {y, row * w.kernel[1] + column, gradient};
}

/// Whether both have NaN in the same places, and equal numbers with equal signs elsewhere. `wide`: in fp64.
bool same(const at::Tensor& actual, const at::Tensor& wide) {
  const at::Tensor a = actual.to(at::kCPU), e = wide.to(actual.scalar_type());
  const auto numbers = [](const at::Tensor& t) { return at::where(t.isnan(), at::zeros_like(t), t); };
  return at::equal(a.isnan(), e.isnan()) && at::equal(numbers(a), numbers(e)) &&
         at::equal(numbers(a).signbit(), numbers(e).signbit());
}

struct Shape {
  int64_t height, width;
  PoolWindow window;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{
      {6, 8, {{2, 2}, {2, 2}, {0, 0}}},          // each input in one window
      {11, 14, {{3, 3}, {2, 2}, {1, 1}}},        // ResNet's
      {10, 10, {{3, 3}, {2, 2}, {0, 0}, true}},  // SqueezeNet's: the last window reaches over the edge
      {7, 7, {{3, 3}, {1, 1}, {1, 1}}},          // GoogLeNet's: nine windows hold an input
      {8, 8, {{2, 2}, {3, 3}, {0, 0}}},          // inputs that no window holds
      {5, 8, {{2, 2}, {3, 3}, {1, 1}, true}},    // a window that would start beyond the edge
      {5, 6, {{1, 1}, {2, 2}, {0, 0}}},          // one place
      {9, 8, {{3, 2}, {2, 1}, {1, 0}}},          // unequal axes
      {6, 7, {{5, 4}, {1, 2}, {2, 2}}},          // more places than are loaded together
      {5, 5, {{2, 2}, {1, 1}, {1, 1}}},          // a larger output than input
      {4, 3, {{4, 3}, {1, 1}, {0, 0}}},          // the whole image
      {5, 4, {{3, 3}, {1 << 30, 100}, {1, 1}}},  // a second window would begin far away
      {20, 17, {{16, 16}, {4, 5}, {8, 3}}},      // 256 places
      {3, 3, {{7, 7}, {2, 2}, {3, 3}, true}},    // windows larger than the image
  };
  return all;
}

using Case = std::tuple<size_t /*shape*/, int64_t /*channels*/, at::ScalarType>;

class MaxPool : public testing::TestWithParam<Case> {
 protected:
  // ATen fills new memory with NaN then: what is not written is seen.
  void SetUp() override { at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true); }
  void TearDown() override { at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/false); }

  /// Few different numbers, zeros of both signs, NaN, -infinity, and nothing else in the first image.
  at::Tensor values() const {
    const auto [index, channels, type] = GetParam();
    at::manual_seed(5);
    const auto random = [&, channels = channels, index = index] {
      return at::rand({3, channels, shapes()[index].height, shapes()[index].width}, at::kDouble);
    };
    at::Tensor x = (random() * 7 - 3.5).round() * (random() < 0.5).to(at::kDouble).mul(2).sub(1);
    x.masked_fill_(random() < 0.3, -infinity).masked_fill_(random() < 0.05, nan);
    x[0].fill_(-infinity);
    return x.to(type).contiguous(channelsLast);
  }

  /// Whole numbers, whose sums fp32 knows exactly and 16 bits do not, and a few infinities.
  static at::Tensor gradientOf(const at::Tensor& y) {
    at::Tensor gradient = (at::rand(y.sizes(), at::kDouble) * 511 - 255.5).round();
    gradient.masked_fill_(at::rand(y.sizes()) < 0.02, infinity);
    return gradient.to(y.scalar_type()).contiguous(channelsLast);
  }

  PoolWindow window() const { return shapes()[std::get<0>(GetParam())].window; }
};

TEST_P(MaxPool, IsAtens) {
  const at::Tensor x = values();
  for (const Way& way : ways()) {
    MaxPoolSaved saved;
    const at::Tensor y = way.forward(x.to(way.device), window(), &saved);
    const at::Tensor gradient = gradientOf(y);
    const Pooled expected = exact(x, window(), gradient);
    EXPECT_EQ(y.scalar_type(), x.scalar_type());
    EXPECT_TRUE(y.is_contiguous(channelsLast));
    EXPECT_TRUE(same(y, expected.y)) << way.name;
    EXPECT_TRUE(same(way.forward(x.to(way.device), window(), nullptr), expected.y)) << way.name;
    const at::Tensor dx = way.backward(gradient.to(way.device), window(), saved);
    EXPECT_TRUE(dx.is_contiguous(channelsLast));
    // In 16 bits ATen's sums on a CPU are rounded at each addition.
    const bool byKernel = !saved.x.defined();
    EXPECT_TRUE(same(dx, expected.gradient) || (!byKernel && x.scalar_type() != at::kFloat)) << way.name;
    if (!byKernel) continue;
    EXPECT_EQ(saved.places.scalar_type(), at::kByte);
    EXPECT_TRUE(at::equal(saved.places.to(at::kCPU, at::kLong), expected.places)) << way.name;
  }
}

// 8, 20 and 64 channels are whole packets in fp32, 8 and 64 in 16 bits.
INSTANTIATE_TEST_SUITE_P(Shapes, MaxPool,
                         testing::Combine(testing::Range(size_t{0}, shapes().size()), testing::Values(1, 3, 8, 20, 64),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf)));

constexpr PoolWindow ofResnet{{3, 3}, {2, 2}, {1, 1}};

at::Tensor normal(at::IntArrayRef shape) { return at::randn(shape).contiguous(channelsLast); }

TEST(MaxPoolKernel, WritesNoPlacesUnlessTheyAreKept) {
  const RunMaxPool expectNone = [](const MaxPoolProgram& program, const at::Tensor& x) {
    EXPECT_EQ(std::get<MaxPoolForward>(program).places, nullptr);
    onTheHost(program, x);
  };
  maxPoolInBlocks(expectNone, normal({1, 8, 5, 5}), ofResnet, nullptr);
}

// Simulated blocks tell an access that is not aligned.
TEST(MaxPoolKernel, ReadsValueByValueWhereAddressesAreNotAligned) {
  const at::Tensor memory = at::randn({1 + 2 * 6 * 6 * 8});
  const at::Tensor x = memory.narrow(0, 1, memory.numel() - 1).view({2, 6, 6, 8}).permute({0, 3, 1, 2});
  MaxPoolSaved saved;
  const at::Tensor y = maxPoolInBlocks(onTheHost, x, ofResnet, &saved);
  const at::Tensor gradientMemory = at::randn({1 + y.numel()});
  const at::Tensor gradient = gradientMemory.narrow(0, 1, y.numel()).view({2, 3, 3, 8}).permute({0, 3, 1, 2});
  const Pooled expected = exact(x, ofResnet, gradient);
  EXPECT_TRUE(same(y, expected.y));
  EXPECT_LT(
      (maxPoolBackwardInBlocks(onTheHost, gradient, ofResnet, saved) - expected.gradient).abs().max().item<double>(),
      1e-5);
}

// ATen refuses such a stride.
TEST(MaxPoolKernel, AStrideBeyondTheReachOfAnIntGivesOneWindow) {
  const at::Tensor x = normal({2, 8, 5, 4}), gradient = normal({2, 8, 1, 1});
  const int64_t far = int64_t{1} << 40;
  const PoolWindow window{{3, 3}, {far, far}, {1, 1}};
  const Pooled expected = exact(x, {{3, 3}, {100, 100}, {1, 1}}, gradient);
  MaxPoolSaved saved;
  EXPECT_TRUE(same(maxPoolInBlocks(onTheHost, x, window, &saved), expected.y));
  EXPECT_TRUE(same(maxPoolBackwardInBlocks(onTheHost, gradient, window, saved), expected.gradient));
}

TEST(MaxPoolKernel, RefusesWindowsWithoutAnInput) {
  const at::Tensor x = normal({1, 8, 5, 5});
  for (const PoolWindow& window : {PoolWindow{{2, 2}, {1, 1}, {2, 0}}, PoolWindow{{6, 2}, {1, 1}, {0, 0}},
                                   PoolWindow{{2, 2}, {1, 0}, {0, 0}}, PoolWindow{{2, 2}, {1, 1}, {0, -1}}}) {
    EXPECT_THROW(maxPoolInBlocks(onTheHost, x, window, nullptr), InternalError);
  }
}

TEST(MaxPoolKernel, ServesGpusInNhwc) {
  const auto serves = [](at::Device device, at::ScalarType type, at::MemoryFormat format, const PoolWindow& window) {
    return hasMaxPoolKernel(device, type, format, window);
  };
  const PoolWindow largest{{16, 16}, {1, 1}, {0, 0}}, larger{{257, 1}, {1, 1}, {0, 0}};
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    EXPECT_TRUE(serves(at::kCUDA, type, channelsLast, ofResnet));
  }
  EXPECT_TRUE(serves(at::kCUDA, at::kHalf, channelsLast, largest));
  EXPECT_FALSE(serves(at::kCUDA, at::kHalf, channelsLast, larger));
  EXPECT_FALSE(serves(at::kCUDA, at::kHalf, at::MemoryFormat::Contiguous, ofResnet));
  EXPECT_FALSE(serves(at::kCUDA, at::kDouble, channelsLast, ofResnet));
  EXPECT_FALSE(serves(at::kCPU, at::kFloat, channelsLast, ofResnet));
}

TEST(MaxPoolOfAnyTensor, IsAtens) {
  const PoolWindow larger{{17, 17}, {2, 2}, {1, 1}};
  for (const at::Device device : testDevices()) {
    const at::Tensor x = at::randn({2, 8, 19, 20}, device);
    const at::Tensor channels = at::randn({2, 19, 20, 24}, device).permute({0, 3, 1, 2}).narrow(1, 8, 8);
    for (const at::Tensor& given : {x, x.to(at::kDouble), x.contiguous(channelsLast), channels}) {
      for (const PoolWindow& window : {ofResnet, larger}) {
        MaxPoolSaved saved;
        const at::Tensor y = maxPool(given, window, &saved), gradient = at::randn_like(y, at::MemoryFormat::Contiguous);
        const Pooled expected = exact(given, window, gradient);
        EXPECT_TRUE(same(y, expected.y)) << device;
        const at::Tensor dx = maxPoolBackward(gradient, window, saved).to(at::kCPU, at::kDouble);
        EXPECT_LT((dx - expected.gradient).abs().max().item<double>(), 1e-5) << device;
        const bool isNhwc = given.stride(1) == 1;
        const auto format = isNhwc ? channelsLast : at::MemoryFormat::Contiguous;
        EXPECT_EQ(saved.x.defined(), !hasMaxPoolKernel(device, given.scalar_type(), format, window)) << device;
      }
    }
  }
}

}  // namespace
}  // namespace tandem

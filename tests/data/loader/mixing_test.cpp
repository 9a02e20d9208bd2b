#include "data/loader/mixing.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "data/loader/batch_source.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

constexpr ImageSize size{6, 10, 3};

Batch madeBatch(int64_t images, at::ScalarType type = at::kFloat) {
  at::manual_seed(1);
  Batch batch;
  batch.images = at::rand({images, 3, size.height, size.width}).to(type).contiguous(at::MemoryFormat::ChannelsLast);
  batch.labels = at::arange(images, at::kLong);
  return batch;
}

/// What mixNeighbours() must give, pixel by pixel.
Batch mixedPlainly(const Mixing& mixing, int64_t k, int64_t first, const Batch& from) {
  Batch to;
  to.images = at::empty_like(from.images);
  to.labels = at::zeros({from.labels.size(0), mixing.classes});
  for (int64_t i = 0; i < from.images.size(0); ++i) {
    const int64_t other = i % 2 == 0 ? i + 1 : i - 1;
    const auto [share, window] = pairShare(mixing, k, (first + i) / 2, size);
    int64_t exchanged = 0;
    for (int64_t y = 0; y < size.height; ++y) {
      for (int64_t x = 0; x < size.width; ++x) {
        const bool inside = y >= window.top && y < window.bottom() && x >= window.left && x < window.right();
        const double own = inside ? 0 : share;
        exchanged += inside ? 1 : 0;
        for (int64_t c = 0; c < 3; ++c) {
          to.images[i][c][y][x] = own * from.images[i][c][y][x] + (1 - own) * from.images[other][c][y][x];
        }
      }
    }
    const double kept = share * (1 - static_cast<double>(exchanged) / static_cast<double>(size.height * size.width));
    to.labels[i][from.labels[i].item<int64_t>()] += kept;
    to.labels[i][from.labels[other].item<int64_t>()] += 1 - kept;
  }
  return to;
}

class MixingTest : public testing::TestWithParam<Mixing> {};

TEST_P(MixingTest, MixesNeighboursAndTheirLabels) {
  for (const at::Device device : testDevices()) {
    const Batch before = madeBatch(8);
    Batch batch = before;
    batch.images = before.images.to(device, /*non_blocking=*/false, /*copy=*/true);
    batch.labels = before.labels.to(device);
    mixNeighbours(GetParam(), 5, 12, batch);
    const Batch expected = mixedPlainly(GetParam(), 5, 12, before);
    EXPECT_LT((batch.images.cpu() - expected.images).abs().max().item<double>(), 1e-6) << device;
    EXPECT_LT((batch.labels.cpu() - expected.labels).abs().max().item<double>(), 1e-6) << device;
    EXPECT_TRUE(batch.images.is_contiguous(at::MemoryFormat::ChannelsLast));
  }
}

TEST_P(MixingTest, APartOfABatchIsThatPart) {
  const Batch before = madeBatch(8);
  Batch whole = before, part = before;
  whole.images = before.images.clone();
  part.images = before.images.narrow(0, 4, 2).clone();
  part.labels = before.labels.narrow(0, 4, 2);
  mixNeighbours(GetParam(), 1, 0, whole);
  mixNeighbours(GetParam(), 1, 4, part);
  EXPECT_TRUE(part.images.equal(whole.images.narrow(0, 4, 2)));
  EXPECT_TRUE(part.labels.equal(whole.labels.narrow(0, 4, 2)));
}

INSTANTIATE_TEST_SUITE_P(Ways, MixingTest,
                         testing::Values(Mixing{.mixup = 0.2, .seed = 3, .classes = 9},
                                         Mixing{.cutmix = 1, .seed = 4, .classes = 8},
                                         Mixing{.mixup = 0.8, .cutmix = 1, .seed = 5, .classes = 8}));

TEST(Mixing, FlagsAreMixedToo) {
  Batch batch = madeBatch(2);
  batch.labels = at::tensor({1, 1, 0, 0, 1, 0}, at::kByte).view({2, 3});
  const Mixing mixing{.mixup = 1, .seed = 7, .classes = 3};
  const auto share = static_cast<float>(pairShare(mixing, 0, 0, size).share);
  mixNeighbours(mixing, 0, 0, batch);
  const at::Tensor expected = at::tensor({share, 1.0F, 0.0F, 1 - share, 1.0F, 0.0F}).view({2, 3});
  EXPECT_LT((batch.labels - expected).abs().max().item<double>(), 1e-6);
}

/// Mean and variance of the shares of many pairs.
std::pair<double, double> momentsOf(const Mixing& mixing) {
  constexpr int64_t pairs = 20'000;
  double sum = 0, squares = 0;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const double share = pairShare(mixing, 2, pair, size).share;
    sum += share, squares += share * share;
  }
  const double mean = sum / pairs;
  return {mean, squares / pairs - mean * mean};
}

// Of the beta distribution (a, a) the mean is 1/2, the variance 1 / (4 (2 a + 1)).
TEST(Mixing, SharesAreOfTheBetaDistribution) {
  for (const double parameter : {0.01, 0.2, 1.0, 4.0}) {
    const auto [mean, variance] = momentsOf({.mixup = parameter});
    EXPECT_NEAR(mean, 0.5, 0.015) << parameter;
    EXPECT_NEAR(variance, 1 / (4 * (2 * parameter + 1)), 0.006) << parameter;
  }
}

TEST(Mixing, WindowsLieWithinTheImageAndBothWaysAreTaken) {
  int64_t windows = 0, outOfPlace = 0;
  for (int64_t pair = 0; pair < 1000; ++pair) {
    const auto [share, window] = pairShare({.mixup = 1, .cutmix = 1}, 0, pair, size);
    if (share != 1) continue;
    ++windows;
    const bool within = window.top >= 0 && window.left >= 0 && window.height >= 0 && window.width >= 0 &&
                        window.bottom() <= size.height && window.right() <= size.width;
    outOfPlace += within ? 0 : 1;
  }
  EXPECT_EQ(outOfPlace, 0);
  EXPECT_NEAR(static_cast<double>(windows), 500, 100);
}

}  // namespace
}  // namespace tandem

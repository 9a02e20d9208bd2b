#include "kernels/conv/nchwc.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

at::Tensor numbered(int64_t images, int64_t channels, int64_t height, int64_t width) {
  return at::arange(images * channels * height * width, at::kFloat).view({images, channels, height, width});
}

TEST(Blocked, HoldsBlocksOfChannelsOneAfterTheOther) {
  const int64_t block = blockChannels();
  const at::Tensor x = numbered(2, 3 * block, 4, 5), blocked = toBlocked(x);
  ASSERT_TRUE(blocked.is_contiguous(at::MemoryFormat::ChannelsLast));
  const auto* const memory = blocked.const_data_ptr<float>();
  // The second image's third block begins behind five blocks of 4 x 5 pixels; pixel (1, 2), channel 7 of the block.
  const int64_t at = (5 * 4 * 5 + 1 * 5 + 2) * block + 7;
  EXPECT_EQ(memory[at], x[1][2 * block + 7][1][2].item<float>());
}

TEST(Blocked, ComesBackEqualFromEveryMemoryFormat) {
  const int64_t block = blockChannels();
  for (const int64_t blocks : {1, 2, 5}) {
    const at::Tensor x = numbered(3, blocks * block, 3, 2);
    EXPECT_TRUE(fromBlocked(toBlocked(x), 3).equal(x));
    EXPECT_TRUE(fromBlocked(toBlocked(x.contiguous(at::MemoryFormat::ChannelsLast)), 3).equal(x));
    EXPECT_TRUE(fromBlocked(toBlocked(x.slice(3, 0, 1)), 3).equal(x.slice(3, 0, 1)));
    EXPECT_EQ(isBlocked(toBlocked(x), blocks * block), blocks > 1);
  }
}

TEST(Blocked, WhatTreatsChannelsApartServesItAsItIs) {
  const at::Tensor x = at::randn({2, 2 * blockChannels(), 6, 6});
  const at::Tensor pooled = at::max_pool2d(toBlocked(x), 3, 2, 1);
  EXPECT_TRUE(fromBlocked(pooled, 2).equal(at::max_pool2d(x, 3, 2, 1)));
}

TEST(Blocked, OnlyWholeBlocks) {
  EXPECT_TRUE(canBlock(2 * blockChannels()));
  EXPECT_FALSE(canBlock(3));
  EXPECT_FALSE(canBlock(blockChannels() + 1));
}

}  // namespace
}  // namespace tandem

#include "kernels/conv/im2col.h"

#include <gtest/gtest.h>

#include <vector>

namespace tandem {
namespace {

std::vector<float> gathered(const Patches& patches, const std::vector<float>& images, int64_t first, int64_t last) {
  std::vector<float> rows(static_cast<size_t>((last - first) * patches.values()), -1);
  patches.gather(reinterpret_cast<const std::byte*>(images.data()), first, last,
                 reinterpret_cast<std::byte*>(rows.data()));
  return rows;
}

// Two images of 2x3 pixels with one channel: 1 2 3 / 4 5 6, and 7 8 9 / 10 11 12.
const std::vector<float> images{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

TEST(Patches, OutsideOfTheImageIsZero) {
  const Patches patches{1, 2, 3, 3, 3, 1, 1, 1, 1, 2, 3, sizeof(float)};
  EXPECT_FALSE(patches.areImages());
  EXPECT_EQ(gathered(patches, images, 0, 1), (std::vector<float>{0, 0, 0, 0, 1, 2, 0, 4, 5}));
  EXPECT_EQ(gathered(patches, images, 11, 12), (std::vector<float>{8, 9, 0, 11, 12, 0, 0, 0, 0}));
}

TEST(Patches, StridesAndUnequalPadding) {
  const Patches patches{1, 2, 3, 1, 2, 1, 2, 0, 1, 2, 2, sizeof(float)};
  EXPECT_EQ(gathered(patches, images, 3, 6), (std::vector<float>{5, 6, 0, 7, 8, 9}));
}

TEST(Patches, AllOutsideIsZero) {
  const Patches patches{1, 2, 3, 1, 1, 1, 1, 0, 2, 2, 7, sizeof(float)};
  EXPECT_EQ(gathered(patches, images, 0, 7), (std::vector<float>{0, 0, 1, 2, 3, 0, 0}));
}

TEST(Patches, ChannelsStayTogether) {
  const Patches patches{3, 2, 1, 2, 1, 1, 1, 0, 0, 1, 1, sizeof(float)};
  EXPECT_EQ(gathered(patches, images, 1, 2), (std::vector<float>{7, 8, 9, 10, 11, 12}));
}

TEST(Patches, OfSingleStepsAreTheImages) {
  EXPECT_TRUE((Patches{3, 2, 2, 1, 1, 1, 1, 0, 0, 2, 2, 4}.areImages()));
  EXPECT_FALSE((Patches{3, 2, 2, 1, 1, 2, 1, 0, 0, 1, 2, 4}.areImages()));
  EXPECT_FALSE((Patches{3, 2, 2, 1, 1, 1, 1, 1, 0, 3, 2, 4}.areImages()));
}

}  // namespace
}  // namespace tandem

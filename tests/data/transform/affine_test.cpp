#include "data/transform/affine.h"

#include <gtest/gtest.h>

#include <vector>

namespace tandem {
namespace {

// The images of rand_augment_test.cpp compare all pixels with Pillow's; these two are seen in few pixels.

// As Pillow computes them.
TEST(Affine, TurnsBySinesOfFifteenDigits) {
  const AffineMatrix turn = turnOf(-30, 20, 10);
  EXPECT_EQ(turn[0], 0.866025403784438);
  EXPECT_EQ(turn[1], 0.5);
  EXPECT_EQ(turn[3], -0.5);
}

TEST(Affine, FillsWhatComesFromTheEdgeItself) {
  std::vector<uint8_t> pixels(2 * 2 * 3, 9);
  moveAffine({2, 2, pixels}, {1, 0, 0.5, 0, 1, 0}, {1, 2, 3});
  EXPECT_EQ(pixels, (std::vector<uint8_t>{9, 9, 9, 1, 2, 3, 9, 9, 9, 1, 2, 3}));
  moveAffine({2, 2, pixels}, {1, 0, 0, 0, 1, 0.5}, {4, 5, 6});
  EXPECT_EQ(pixels, (std::vector<uint8_t>{9, 9, 9, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
}

}  // namespace
}  // namespace tandem

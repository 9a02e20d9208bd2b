#include "kernels/norm/gpu_grid.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/text.h"

namespace tandem {
namespace {

using Case = std::tuple<int64_t /*rows*/, int64_t /*channels*/, int /*width*/>;

class NormGridCovers : public testing::TestWithParam<Case> {};

TEST_P(NormGridCovers, EachValueByOneThread) {
  const auto [rows, channels, width] = GetParam();
  const NormGrid grid(rows, channels, width);
  std::vector<int> visits(static_cast<size_t>(rows * channels));
  for (int64_t block = 0; block < grid.blocks(); ++block) {
    for (int thread = 0; thread < blockThreads; ++thread) {
      const NormGrid::Share share = grid.shareOf(block, thread);
      for (int64_t row = share.first; row < share.last; row += share.step) {
        for (int i = 0; i < width; ++i) ++visits.at(static_cast<size_t>(row * channels + share.channel + i));
      }
    }
  }
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
  int64_t inChunks = 0;
  for (int64_t chunk = 0; chunk < grid.chunks; ++chunk) inChunks += grid.rowsOf(chunk);
  EXPECT_EQ(inChunks, rows);
}

TEST_P(NormGridCovers, ManyThreadsButNotMoreBlocksThanAreWorthIt) {
  const auto [rows, channels, width] = GetParam();
  const NormGrid grid(rows, channels, width);
  EXPECT_GT(2 * grid.lanes * grid.layers, blockThreads);
  EXPECT_LE(grid.blocks(), NormGrid::blocksWanted + grid.tiles);
  EXPECT_TRUE(grid.chunks == 1 || grid.chunkRows >= grid.layers * NormGrid::rowsPerThread / 2);
}

std::string nameOf(const testing::TestParamInfo<Case>& row) {
  const auto& [rows, channels, width] = row.param;
  return concat(rows, "x", channels, "_", width);
}

INSTANTIATE_TEST_SUITE_P(Shapes, NormGridCovers,
                         testing::Combine(testing::Values(1, 7, 98, 255, 1001, 30011),
                                          testing::Values(8, 24, 64, 264, 2048), testing::Values(1, 4, 8)),
                         nameOf);

}  // namespace
}  // namespace tandem

#include "kernels/norm/gpu_grid.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/text.h"

namespace tandem {
namespace {

using Case = std::tuple<int64_t /*rows*/, int64_t /*channels*/, int /*width*/, bool /*of sums*/>;

class NormGridCovers : public testing::TestWithParam<Case> {
 protected:
  bool ofSums() const { return std::get<3>(GetParam()); }
  NormGrid grid() const {
    const auto [rows, channels, width, sums] = GetParam();
    return sums ? NormGrid::ofSums(rows, channels, width) : NormGrid::ofValues(rows, channels, width);
  }
};

TEST_P(NormGridCovers, EachValueByOneThread) {
  const NormGrid grid = this->grid();
  std::vector<int> visits(static_cast<size_t>(grid.rows * grid.channels));
  for (int64_t block = 0; block < grid.blocks(); ++block) {
    for (int thread = 0; thread < blockThreads; ++thread) {
      const NormGrid::Share share = grid.shareOf(block, thread);
      for (int64_t row = share.first; row < share.last; row += share.step) {
        for (int i = 0; i < grid.width; ++i) {
          ++visits.at(static_cast<size_t>(row * grid.channels + share.channel + i));
        }
      }
    }
  }
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
  int64_t inChunks = 0;
  for (int64_t chunk = 0; chunk < grid.chunks; ++chunk) inChunks += grid.rowsOf(chunk);
  EXPECT_EQ(inChunks, grid.rows);
}

TEST_P(NormGridCovers, ManyThreadsButNotMoreBlocksThanAreWorthIt) {
  const NormGrid grid = this->grid();
  EXPECT_GT(2 * grid.lanes * grid.layers, blockThreads);
  EXPECT_EQ(grid.chunkRows % (grid.layers * NormGrid::rowsPerThread), 0);
  if (ofSums()) {
    EXPECT_LE(grid.blocks(), NormGrid::blocksWanted + grid.tiles);
  } else {
    EXPECT_LE(grid.chunkRows / grid.layers, NormGrid::rowsAtMost);
  }
}

TEST_P(NormGridCovers, SumsFromTheFirstRowOnAndValuesFromTheLast) {
  const NormGrid grid = this->grid();
  EXPECT_EQ(grid.chunkOf(0), ofSums() ? 0 : grid.chunks - 1);
  EXPECT_EQ(grid.chunkOf(grid.blocks() - 1), ofSums() ? grid.chunks - 1 : 0);
  EXPECT_EQ(grid.shareOf(0, 0).first, ofSums() ? 0 : (grid.chunks - 1) * grid.chunkRows);
}

// A stage of ResNet-50 with 256 images: enough work for all of a GPU's threads, and evenly.
TEST(NormGrid, LargeTensorsHaveAsManyBlocksAsAreWanted) {
  for (const auto& [rows, channels] : {std::pair<int64_t, int64_t>{802816, 64}, {802816, 256}, {50176, 1024}}) {
    for (const int width : {4, 8}) {
      SCOPED_TRACE(concat(rows, "x", channels, ", width ", width));
      const NormGrid sums = NormGrid::ofSums(rows, channels, width), values = NormGrid::ofValues(rows, channels, width);
      EXPECT_GT(sums.blocks(), NormGrid::blocksWanted / 2);
      EXPECT_LE(sums.blocks(), NormGrid::blocksWanted);
      EXPECT_GE(values.blocks(), sums.blocks());
    }
  }
}

std::string nameOf(const testing::TestParamInfo<Case>& row) {
  const auto& [rows, channels, width, sums] = row.param;
  return concat(rows, "x", channels, "_", width, sums ? "_sums" : "_values");
}

INSTANTIATE_TEST_SUITE_P(Shapes, NormGridCovers,
                         testing::Combine(testing::Values(1, 7, 98, 255, 1001, 30011),
                                          testing::Values(8, 24, 64, 264, 2048), testing::Values(1, 4, 8),
                                          testing::Bool()),
                         nameOf);

}  // namespace
}  // namespace tandem

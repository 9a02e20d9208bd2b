#include "data/loader/epoch_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tandem {
namespace {

/// Samples in files, of which nothing is read.
class Filed final : public Dataset {
 public:
  explicit Filed(std::vector<int64_t> ends) : ends_(std::move(ends)) {}
  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return ends_.back(); }
  Sample read(int64_t, std::vector<uint8_t>&, std::span<uint8_t>) const override { return {}; }
  std::span<const int64_t> shardEnds() const override { return ends_; }

 private:
  DatasetInfo info_;
  std::vector<int64_t> ends_;
};

void expectEachOnce(EpochOrder order, int64_t size) {
  ASSERT_EQ(std::ssize(order), size);
  std::ranges::sort(order);
  for (int64_t i = 0; i < size; ++i) ASSERT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(EpochOrder, HasEachSampleOnceAndDependsOnSeedAndEpoch) {
  const Filed files({4, 4, 9, 20});
  for (const int64_t buffer : {0, 1, 3, 20, 50}) {
    const EpochOrder order = epochOrder(files, 1, 0, buffer);
    expectEachOnce(order, 20);
    EXPECT_EQ(order, epochOrder(files, 1, 0, buffer));
    EXPECT_NE(order, epochOrder(files, 1, 1, buffer)) << buffer;
    EXPECT_NE(order, epochOrder(files, 2, 0, buffer)) << buffer;
  }
}

TEST(EpochOrder, ABufferOfOneReadsEachFileFromItsBeginning) {
  const Filed files({3, 7, 12});
  const EpochOrder order = epochOrder(files, 5, 0, 1);
  int jumps = 0;
  for (size_t i = 1; i < order.size(); ++i) jumps += order[i] != order[i - 1] + 1 ? 1 : 0;
  EXPECT_LE(jumps, 2);
}

// Sample i of a single file enters the buffer at step i - buffer, and leaves it after `buffer` more on average.
TEST(EpochOrder, SamplesMoveByAboutTheBuffer) {
  constexpr int64_t size = 10'000, buffer = 100;
  const EpochOrder order = epochOrder(Filed({size}), 3, 0, buffer);
  double moved = 0;
  for (int64_t at = 0; at < size; ++at) {
    const int64_t late = at - int64_t{order[static_cast<size_t>(at)]};
    ASSERT_GE(late, -buffer) << "no sample leaves before it has entered";
    moved += std::abs(static_cast<double>(late));
  }
  EXPECT_NEAR(moved / size, 0.74 * buffer, 0.1 * buffer);  // E|X - 1| = 2/e of the exponential distribution
}

TEST(EpochOrder, OneFileWithABufferForAllIsInAnyOrder) {
  int64_t first = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) first += epochOrder(Filed({3}), seed, 0, 3)[0] == 2 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(first), 100, 30);
}

}  // namespace
}  // namespace tandem

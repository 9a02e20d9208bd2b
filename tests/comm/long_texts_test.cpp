#include "comm/long_texts.h"

#include <gtest/gtest.h>

#include "support/run_ranks.h"

namespace tandem {
namespace {

/// Every byte, zeros too.
std::string textOf(int rank, size_t size) {
  std::string text(size, 0);
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7 + i / 256 + static_cast<size_t>(rank));
  return text;
}

// A store takes 8 MiB at once.
TEST(LongTexts, ReachTheFirstRankWhole) {
  const size_t sizes[] = {3, 0, 10'000'001};
  runRanks(3, [&](World& world) {
    const int rank = world.place().rank;
    const auto texts = longTextsToFirst(world, textOf(rank, sizes[rank]));
    if (rank != 0) {
      EXPECT_TRUE(texts.empty());
      return;
    }
    ASSERT_EQ(texts.size(), 3U);
    for (int from = 0; from < 3; ++from) EXPECT_TRUE(texts[from] == textOf(from, sizes[from])) << from;
  });
}

}  // namespace
}  // namespace tandem

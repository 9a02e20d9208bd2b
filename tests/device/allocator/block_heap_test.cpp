#include "device/allocator/block_heap.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tandem {
namespace {

TEST(BlockHeap, CutsTheSmallestBlockThatFitsAndOfEqualsTheLowest) {
  BlockHeap heap;
  heap.give(1000, 100);
  heap.give(3000, 60);
  heap.give(2000, 60);
  EXPECT_EQ(heap.take(50), 2000u);
  EXPECT_EQ(heap.take(40), 3000u);
  EXPECT_EQ(heap.take(20), 3040u) << "the rest of a block that was cut";
  EXPECT_EQ(heap.take(60), 1000u);
  EXPECT_EQ(heap.take(41), std::nullopt);
  EXPECT_EQ(heap.take(40), 1060u);
  EXPECT_EQ(heap.take(10), 2050u);
  EXPECT_EQ(heap.take(1), std::nullopt);
}

TEST(BlockHeap, OfBlocksOfJustTheSizeGivesTheOneGivenBackLast) {
  BlockHeap heap;
  heap.give(1000, 50);
  heap.give(3000, 50);
  heap.give(2000, 50);
  EXPECT_EQ(heap.take(50), 2000u);
  EXPECT_EQ(heap.take(50), 3000u);
  EXPECT_EQ(heap.take(50), 1000u);
  EXPECT_EQ(heap.take(50), std::nullopt);
}

TEST(BlockHeap, NeighboursBecomeOneWhicheverIsFreedLast) {
  for (const std::vector<uintptr_t>& order : std::vector<std::vector<uintptr_t>>{
           {100, 200, 300}, {300, 200, 100}, {100, 300, 200}, {200, 100, 300}, {200, 300, 100}, {300, 100, 200}}) {
    BlockHeap heap;
    for (const uintptr_t begin : order) heap.give(begin, 100);
    EXPECT_EQ(heap.freeBefore(400), 300u);
    EXPECT_EQ(heap.take(300), 100u);
  }
}

TEST(BlockHeap, BlocksApartStayApart) {
  BlockHeap heap;
  heap.give(100, 100);
  heap.give(201, 100);
  EXPECT_EQ(heap.take(101), std::nullopt);
  EXPECT_EQ(heap.freeBefore(201), 0u);
  EXPECT_EQ(heap.freeBefore(200), 100u);
  EXPECT_EQ(heap.freeBefore(50), 0u);
}

TEST(BlockHeap, WhatIsTakenNeverOverlapsAndAllComesBack) {
  constexpr size_t whole = 1 << 20;
  BlockHeap heap;
  heap.give(whole, whole);
  std::mt19937 random(7);
  std::vector<bool> used(whole, false);
  std::vector<std::pair<uintptr_t, size_t>> live;
  for (int i = 0; i < 20000; ++i) {
    const size_t bytes = 1 + random() % 5000;
    if (const auto begin = heap.take(bytes)) {
      for (size_t k = 0; k < bytes; ++k) {
        ASSERT_FALSE(used[*begin - whole + k]) << "given twice";
        used[*begin - whole + k] = true;
      }
      live.emplace_back(*begin, bytes);
    }
    if (live.size() < 150) continue;
    std::swap(live[random() % live.size()], live.back());
    const auto [begin, size] = live.back();
    live.pop_back();
    std::fill_n(used.begin() + static_cast<int64_t>(begin - whole), size, false);
    heap.give(begin, size);
  }
  for (const auto& [begin, size] : live) heap.give(begin, size);
  EXPECT_EQ(heap.take(whole), whole);
}

}  // namespace
}  // namespace tandem

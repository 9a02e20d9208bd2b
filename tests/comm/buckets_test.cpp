#include "comm/buckets.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/catalog.h"
#include "comm/local/algorithms.h"

namespace tandem {
namespace {

FlatBuffers buffersOf(std::vector<ParameterSpec> specs, std::string_view precision) {
  return {std::move(specs), find(precisions(), precision, "precision"), at::kCPU, at::MemoryFormat::Contiguous};
}

// 400, 40, 4000, 40, 40 and 800 bytes of fp32 gradients.
std::vector<ParameterSpec> mixed() {
  return {{"a", {100}, false}, {"b", {10}, true},  {"c", {1000}, false},
          {"d", {10}, true},   {"e", {10}, false}, {"f", {200}, false}};
}

std::vector<std::vector<int>> parametersOf(const FlatBuffers& buffers, int64_t bytes, int64_t first = 0) {
  std::vector<std::vector<int>> all;
  for (const Slice& bucket : planBuckets(buffers, {bytes, first})) all.push_back(buffers.parametersIn(bucket));
  return all;
}

using Parameters = std::vector<std::vector<int>>;

TEST(PlanBuckets, CutsAtParameterBordersAndALargerGradientTravelsAlone) {
  const FlatBuffers buffers = buffersOf(mixed(), "fp32");
  EXPECT_EQ(parametersOf(buffers, 600), (Parameters{{0, 1}, {2}, {3, 4}, {5}}));
  EXPECT_EQ(parametersOf(buffers, 1), (Parameters{{0}, {1}, {2}, {3}, {4}, {5}}));
  EXPECT_EQ(parametersOf(buffers, 1 << 20), (Parameters{{0, 1, 2, 3, 4, 5}}));
}

TEST(PlanBuckets, OrdersTheBucketsOfBothSegmentsByWhenTheyFill) {
  const FlatBuffers buffers = buffersOf(mixed(), "bf16");
  EXPECT_EQ(parametersOf(buffers, 300), (Parameters{{0}, {2}, {1, 3}, {4}, {5}}));
}

TEST(PlanBuckets, TheFirstOfEachSegmentMayBeSmaller) {
  EXPECT_EQ(parametersOf(buffersOf(mixed(), "fp32"), 1 << 20, 500), (Parameters{{0, 1}, {2, 3, 4, 5}}));
  EXPECT_EQ(parametersOf(buffersOf(mixed(), "fp32"), 1 << 20, 1), (Parameters{{0}, {1, 2, 3, 4, 5}}));
  EXPECT_EQ(parametersOf(buffersOf(mixed(), "fp32"), 600, 1 << 20), (Parameters{{0, 1, 2, 3, 4, 5}}));
  EXPECT_EQ(parametersOf(buffersOf(mixed(), "bf16"), 1 << 20, 1), (Parameters{{0}, {1}, {3}, {2, 4, 5}}));
}

TEST(PlanBuckets, CoversEverySegmentOnce) {
  for (const Precision& precision : precisions()) {
    for (const int64_t bytes : {1, 64, 500, 5000, 1 << 20}) {
      const FlatBuffers buffers = buffersOf(mixed(), precision.name);
      for (int segment = 0; segment < buffers.segments(); ++segment) {
        int64_t covered = 0;
        for (const Slice& bucket : planBuckets(buffers, {bytes})) {
          if (bucket.segment != segment) continue;
          EXPECT_EQ(bucket.begin, covered);
          covered = bucket.end;
        }
        EXPECT_EQ(covered, buffers.whole(segment).end);
      }
    }
  }
}

TEST(PlanBuckets, NeedsAByte) { EXPECT_THROW(planBuckets(buffersOf(mixed(), "fp32"), {0}), InternalError); }

TEST(BucketTracker, StartsBucketsInOrderWhateverTheOrderOfGradients) {
  const FlatBuffers buffers = buffersOf(mixed(), "fp32");
  BucketTracker tracker(buffers, planBuckets(buffers, {600}));
  for (int step = 0; step < 2; ++step) {
    EXPECT_EQ(tracker.note(buffers.slice(2)), 0);
    EXPECT_EQ(tracker.note(buffers.slice(0)), 0);
    EXPECT_EQ(tracker.note(buffers.slice(1)), 2);
    EXPECT_EQ(tracker.note(buffers.slice(5)), 2);
    EXPECT_EQ(tracker.note(buffers.slice(4)), 2);
    EXPECT_EQ(tracker.note(buffers.slice(3)), 4);
    EXPECT_EQ(tracker.startable(), 4);
    tracker.reset();
  }
}

TEST(BucketTracker, AGradientReportedTwiceIsABug) {
  const FlatBuffers buffers = buffersOf(mixed(), "fp32");
  BucketTracker tracker(buffers, planBuckets(buffers, {600}));
  tracker.note(buffers.slice(2));
  EXPECT_THROW(tracker.note(buffers.slice(2)), InternalError);
}

TEST(ChunkRange, PartsCoverTheTensorAtCacheLineBorders) {
  for (const int64_t count : {0, 1, 7, 64, 1000, 65537}) {
    for (const int parts : {1, 2, 3, 7}) {
      int64_t covered = 0;
      for (int i = 0; i < parts; ++i) {
        const ChunkRange range = chunkRange(count, 4, parts, i);
        EXPECT_EQ(range.begin, covered);
        EXPECT_TRUE(range.begin % 16 == 0 || range.begin == count);
        EXPECT_LE(range.count, count / parts + 32);
        covered += range.count;
      }
      EXPECT_EQ(covered, count);
    }
  }
}

}  // namespace
}  // namespace tandem

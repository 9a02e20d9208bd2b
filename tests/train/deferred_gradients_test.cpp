#include "train/deferred_gradients.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

/// Of 400 bytes each, beginning 448 bytes apart.
FlatBuffers fourGradients() {
  return {{{"a", {100}, false}, {"b", {100}, false}, {"c", {100}, false}, {"d", {100}, false}},
          precisions().front(),
          at::kCPU,
          at::MemoryFormat::Contiguous};
}

using Slices = std::vector<Slice>;

class ReadyGradientsTest : public testing::Test {
 protected:
  Slices slices(std::initializer_list<int> parameters) const {
    Slices all;
    for (const int parameter : parameters) all.push_back(buffers_.slice(parameter));
    return all;
  }

  FlatBuffers buffers_ = fourGradients();
};

TEST_F(ReadyGradientsTest, AreToldWhereABucketIsFull) {
  DeferredGradients ready(buffers_, planBuckets(buffers_, {900}));
  for (int step = 0; step < 3; ++step) {
    EXPECT_FALSE(ready.note(slices({1})));
    EXPECT_TRUE(ready.note(slices({0}))) << "two are a bucket";
    EXPECT_EQ(ready.take(), slices({1, 0})) << "in their order";
    EXPECT_FALSE(ready.note(slices({2})));
    EXPECT_FALSE(ready.note(slices({3}))) << "the last are not followed by work";
    EXPECT_EQ(ready.rest(), slices({2, 3}));
  }
}

TEST_F(ReadyGradientsTest, ABucketWaitsForThoseBeforeIt) {
  DeferredGradients ready(buffers_, planBuckets(buffers_, {400}));
  EXPECT_FALSE(ready.note(slices({1})));
  EXPECT_TRUE(ready.note(slices({0}))) << "both may start";
  EXPECT_EQ(ready.take(), slices({1, 0}));
}

TEST_F(ReadyGradientsTest, ThoseThatAreReadyAtOnceAreToldAtOnce) {
  DeferredGradients ready(buffers_, planBuckets(buffers_, {1}));
  EXPECT_TRUE(ready.note(slices({0, 1})));
  EXPECT_EQ(ready.take(), slices({0, 1}));
  EXPECT_FALSE(ready.note(slices({2, 3}))) << "no work is between them";
  EXPECT_EQ(ready.rest(), slices({2, 3}));
}

TEST_F(ReadyGradientsTest, TheRestOfALaunchedStepIsThatOfTheStepBefore) {
  DeferredGradients ready(buffers_, planBuckets(buffers_, {1}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(ready.note(slices({i})));
    EXPECT_EQ(ready.take(), slices({i}));
  }
  EXPECT_FALSE(ready.note(slices({3})));
  for (int launch = 0; launch < 3; ++launch) EXPECT_EQ(ready.rest(), slices({3}));
}

TEST_F(ReadyGradientsTest, WithoutBucketsAreToldAtTheEnd) {
  DeferredGradients ready(buffers_, {});
  for (int step = 0; step < 2; ++step) {
    for (const int i : {1, 0, 2, 3}) EXPECT_FALSE(ready.note(slices({i}))) << step << ' ' << i;
    for (int launch = 0; launch < 2; ++launch) EXPECT_EQ(ready.rest(), slices({1, 0, 2, 3})) << "in their order";
  }
}

TEST_F(ReadyGradientsTest, OfASmallNetworkAreToldAtTheEnd) {
  DeferredGradients ready(buffers_, planBuckets(buffers_, {1 << 20}));
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(ready.note(slices({i})));
  EXPECT_EQ(ready.rest().size(), 4U);
}

}  // namespace
}  // namespace tandem

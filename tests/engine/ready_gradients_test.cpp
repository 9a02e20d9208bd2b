#include "engine/ready_gradients.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

FlatBuffers fourOf(int64_t elements) {
  return {{{"a", {elements}, false}, {"b", {elements}, false}, {"c", {elements}, false}, {"d", {elements}, false}},
          precisions().front(),
          at::kCPU,
          at::MemoryFormat::Contiguous};
}

TEST(ReadyGradients, AreToldTogetherWhereTheyAreEnough) {
  const FlatBuffers buffers = fourOf(100);
  ReadyGradients ready(buffers, 800);
  for (int step = 0; step < 3; ++step) {
    EXPECT_FALSE(ready.note(buffers.slice(2)));
    EXPECT_TRUE(ready.note(buffers.slice(0)));
    EXPECT_EQ(ready.take(), (std::vector<Slice>{buffers.slice(2), buffers.slice(0)})) << "in their order";
    EXPECT_FALSE(ready.note(buffers.slice(1)));
    EXPECT_FALSE(ready.note(buffers.slice(3))) << "the last are not followed by work";
    EXPECT_EQ(ready.rest(), (std::vector<Slice>{buffers.slice(1), buffers.slice(3)}));
  }
}

TEST(ReadyGradients, TheRestOfALaunchedStepIsThatOfTheStepBefore) {
  const FlatBuffers buffers = fourOf(100);
  ReadyGradients ready(buffers, 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(ready.note(buffers.slice(i)));
    EXPECT_EQ(ready.take(), std::vector<Slice>{buffers.slice(i)});
  }
  EXPECT_FALSE(ready.note(buffers.slice(3)));
  for (int launch = 0; launch < 3; ++launch) EXPECT_EQ(ready.rest(), std::vector<Slice>{buffers.slice(3)});
}

TEST(ReadyGradients, OfASmallNetworkAreToldAtTheEnd) {
  const FlatBuffers buffers = fourOf(3);
  ReadyGradients ready(buffers, 1 << 20);
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(ready.note(buffers.slice(i)));
  EXPECT_EQ(ready.rest().size(), 4U);
}

}  // namespace
}  // namespace tandem

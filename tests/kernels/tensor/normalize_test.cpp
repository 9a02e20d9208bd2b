#include "kernels/tensor/normalize.h"

#include "support/test_devices.h"

namespace tandem {
namespace {

using Shape = std::vector<int64_t>;
using Case = std::tuple<Shape, at::ScalarType, at::MemoryFormat, int64_t>;

class Normalize : public testing::TestWithParam<Case> {};

TEST_P(Normalize, EqualsTheReference) {
  const auto& [shape, type, format, zeros] = GetParam();
  const Normalization normalization{{125.3F, 123.0F, 113.9F}, {63.0F, 62.1F, 66.7F}};
  for (const at::Device device : testDevices()) {
    at::manual_seed(1);
    const at::Tensor bytes = at::randint(256, shape, at::kByte).to(device);
    at::Tensor out =
        at::empty({shape[0], shape[3] + zeros, shape[1], shape[2]}, at::device(device).dtype(type), format);
    out.fill_(-1000);
    normalize(bytes, normalization, out);
    const at::Tensor expected = normalizeReference(bytes, normalization, out);
    EXPECT_EQ(expected.sizes(), out.sizes());
    EXPECT_LT(relativeError(out, expected), toleranceOf(type)) << device;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Normalize,
                         testing::Combine(testing::Values(Shape{2, 8, 8, 3}, Shape{1, 1, 1, 3}, Shape{3, 7, 5, 3},
                                                          Shape{2, 28, 28, 1}, Shape{5, 33, 17, 3}, Shape{1, 1, 47, 1},
                                                          Shape{4, 224, 224, 3}),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                                          testing::Values(at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast),
                                          testing::Values(0, 1, 5)));  // channels of zeros

TEST(Normalize, FurtherChannelsAreZeros) {
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    at::Tensor out = at::full({2, 8, 5, 7}, -1000.0).contiguous(format);
    normalize(at::randint(256, {2, 5, 7, 3}, at::kByte), {{0, 0, 0}, {1, 1, 1}}, out);
    EXPECT_TRUE(out.narrow(1, 3, 5).eq(0).all().item<bool>());
    EXPECT_TRUE(out.narrow(1, 0, 3).ne(0).any().item<bool>());
  }
}

TEST(Normalize, AcceptsAnEmptyBatch) {
  at::Tensor out = at::empty({0, 3, 4, 4});
  normalize(at::empty({0, 4, 4, 3}, at::kByte), {}, out);
  EXPECT_EQ(out.numel(), 0);
}

TEST(Normalize, RefusesShapesThatDoNotFit) {
  at::Tensor out = at::empty({2, 3, 4, 4});
  EXPECT_ANY_THROW(normalize(at::empty({2, 4, 4, 2}, at::kByte), {}, out));
  EXPECT_ANY_THROW(normalize(at::empty({2, 4, 5, 3}, at::kByte), {}, out));
  EXPECT_ANY_THROW(normalize(at::empty({2, 4, 4, 3}), {}, out));
  at::Tensor fewer = at::empty({2, 2, 4, 4});
  EXPECT_ANY_THROW(normalize(at::empty({2, 4, 4, 3}, at::kByte), {}, fewer));
  EXPECT_ANY_THROW(normalize(at::empty({2, 4, 8, 3}, at::kByte).slice(2, 0, 8, 2), {}, out));
  at::Tensor every2nd = at::empty({2, 3, 4, 8}).slice(3, 0, 8, 2);
  EXPECT_ANY_THROW(normalize(at::empty({2, 4, 4, 3}, at::kByte), {}, every2nd));
  at::Tensor wide = at::empty({2, 3, 4, 4}, at::kDouble);
  EXPECT_ANY_THROW(normalize(at::empty({2, 4, 4, 3}, at::kByte), {}, wide));
}

}  // namespace
}  // namespace tandem

#include "models/onnx/constant.h"

#include <gtest/gtest.h>

#include <array>

#include "base/error.h"

namespace tandem::onnx {
namespace {

TEST(OnnxConstant, ReadsABoundedSumOfNumbers) {
  ConstantMemory memory(0);
  const Constant pair = constantOf(memory, *elementTypeNamed("I64"), {2}, std::array{3.0, -4.0});
  const Constant one = constantOf(memory, *elementTypeNamed("F32"), {}, std::array{0.5});
  EXPECT_EQ(wholesOf(memory, pair), (std::vector<int64_t>{3, -4}));
  memory.countRead(ConstantMemory::mostRead - 4);
  EXPECT_EQ(numbersOf(memory, pair), (std::vector<double>{3, -4}));
  EXPECT_THROW(numbersOf(memory, pair), UsageError);
  EXPECT_THROW(wholesOf(memory, one), UsageError);
  EXPECT_THROW(memory.countRead(UINT64_MAX), UsageError);
  EXPECT_EQ(numberOf(one), 0.5) << "single numbers do not count";
}

}  // namespace
}  // namespace tandem::onnx

#include "kernels/gpu/divisor.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace tandem {
namespace {

constexpr int most = std::numeric_limits<int>::max();

/// Small numbers, and those around all powers of two.
std::vector<int> numbers() {
  std::vector<int> all;
  for (int i = 1; i < 200; ++i) all.push_back(i);
  for (int bit = 8; bit < 31; ++bit) {
    for (int beside = -2; beside <= 2; ++beside) all.push_back((1 << bit) + beside);
  }
  for (int i = 0; i < 3; ++i) all.push_back(most - i);
  return all;
}

TEST(Divisor, DividesAsTheProcessorDoes) {
  for (const int value : numbers()) {
    const Divisor divisor(value);
    EXPECT_EQ(divisor.value(), value);
    EXPECT_EQ(divisor.quotient(0), 0);
    for (const int number : numbers()) {
      ASSERT_EQ(divisor.quotient(number), number / value) << number << " / " << value;
      const int multiple = number / value * value;  // a quotient changes here
      ASSERT_EQ(divisor.quotient(multiple), multiple / value) << multiple << " / " << value;
      if (multiple == 0) continue;
      ASSERT_EQ(divisor.quotient(multiple - 1), (multiple - 1) / value) << multiple - 1 << " / " << value;
    }
  }
}

}  // namespace
}  // namespace tandem

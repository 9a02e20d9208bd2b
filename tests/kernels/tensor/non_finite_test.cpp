#include "kernels/tensor/non_finite.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

constexpr at::ScalarType types[] = {at::kFloat, at::kBFloat16, at::kHalf};
constexpr double infinite = std::numeric_limits<double>::infinity();

/// The finite number of the type that is farthest below zero: next to what is infinite.
double lowest(at::ScalarType type) {
  return type == at::kFloat ? -0x1.FFFFFEp127 : type == at::kBFloat16 ? -0x1.FEp127 : -65504;
}

/// [count] finite values from an odd element on, among others that are infinite.
struct View {
  at::Tensor room, values;
  View(int64_t count, int64_t offset, at::ScalarType type, at::Device device)
      : room(at::full({offset + count + 3}, infinite, at::device(device).dtype(type))),
        values(room.narrow(0, offset, count)) {
    values.fill_(lowest(type));
  }
};

/// The mark that a call leaves.
float markOf(const at::Tensor& values, float before = 0) {
  const at::Tensor mark = at::full({1}, before, at::device(values.device()).dtype(at::kFloat));
  markNonFinite(values, mark);
  return mark.item<float>();
}

TEST(NonFinite, IsFoundAtEveryPlaceOfAViewAndNotBesideIt) {
  for (const at::Device device : testDevices()) {
    for (const at::ScalarType type : types) {
      for (const int64_t count : {1, 2, 37, 1025, 200'000}) {
        for (const int64_t offset : {0, 1, 3}) {
          const View view(count, offset, type, device);
          EXPECT_EQ(markOf(view.values), 0) << device << ' ' << type << ' ' << count << " from " << offset;
          for (const double value : {infinite, -infinite, std::numeric_limits<double>::quiet_NaN()}) {
            for (const int64_t place : {int64_t{0}, count / 2, count - 1}) {
              view.values.narrow(0, place, 1).fill_(value);
              EXPECT_EQ(markOf(view.values), 1)
                  << device << ' ' << type << ' ' << count << " from " << offset << ": " << value << " at " << place;
              view.values.narrow(0, place, 1).fill_(lowest(type));
            }
          }
        }
      }
    }
  }
}

TEST(NonFinite, WhatWasMarkedStaysAndNothingMarksNothing) {
  for (const at::Device device : testDevices()) {
    for (const at::ScalarType type : types) {
      const at::Tensor none = at::empty({0}, at::device(device).dtype(type)), zeros = at::zeros({5}, none.options());
      EXPECT_EQ(markOf(none), 0) << device << ' ' << type;
      EXPECT_EQ(markOf(none, 1), 1) << device << ' ' << type;
      EXPECT_EQ(markOf(zeros), 0) << device << ' ' << type;
      EXPECT_EQ(markOf(zeros, 1), 1) << device << ' ' << type;
    }
  }
}

TEST(NonFinite, OtherTypesStridesAndMarksAreRefused) {
  for (const at::Device device : testDevices()) {
    const auto on = at::TensorOptions(device);
    const at::Tensor mark = at::zeros({1}, on);
    EXPECT_THROW(markNonFinite(at::zeros({4}, on.dtype(at::kDouble)), mark), InternalError);
    EXPECT_THROW(markNonFinite(at::zeros({4, 2}, on).select(1, 0), mark), InternalError);
    EXPECT_THROW(markNonFinite(at::zeros({4}, on), at::zeros({2}, on)), InternalError);
  }
}

}  // namespace
}  // namespace tandem

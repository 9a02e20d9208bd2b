#pragma once

#include <bit>

#include "kernels/gpu/host_testable_block.h"

namespace tandem {

/// Division by a number that is known before the launch: a product and a shift. (A GPU has no instruction that
/// divides.) Granlund, Montgomery 1994, figure 4.1.
class Divisor {
 public:
  /// REQUIRES: value > 0.
  explicit Divisor(int value) : value_(value), shift_(std::bit_width(static_cast<uint32_t>(value - 1))) {
    const auto divisor = static_cast<uint64_t>(value);
    factor_ = static_cast<uint32_t>((((uint64_t{1} << shift_) - divisor) << 32) / divisor + 1);
  }

  TANDEM_THREAD int value() const { return value_; }

  /// number / value(), rounded down. REQUIRES: number >= 0.
  TANDEM_THREAD int quotient(int number) const {
    const auto n = static_cast<uint32_t>(number);
    const auto high = static_cast<uint32_t>((static_cast<uint64_t>(n) * factor_) >> 32);
    return static_cast<int>((high + n) >> shift_);
  }

 private:
  int value_, shift_;
  uint32_t factor_;
};

}  // namespace tandem

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "trace/op_scope.h"

namespace tandem {

/// Adds up how long a thread is in each operation of the plan, by the host's clock. It serves CPU replicas, whose work
/// is done when a call returns. Used on that thread alone.
class OpTimer final : public OpListener {
 public:
  /// Of one operation.
  struct Total {
    Nanos time{};
    int64_t calls = 0;
  };

  /// Adds to `totals`, by the operation numbers of OpScope.
  explicit OpTimer(std::vector<Total> totals) : totals_(std::move(totals)) {}

  void opBegins(int64_t operation) noexcept override {
    current_ = static_cast<size_t>(operation);
    begin_ = now();
  }
  void opEnds() noexcept override {
    if (current_ >= totals_.size()) return;
    totals_[current_].time += now() - begin_;
    ++totals_[current_].calls;
  }

  const std::vector<Total>& totals() const { return totals_; }

 private:
  std::vector<Total> totals_;
  size_t current_ = 0;
  Nanos begin_{};
};

}  // namespace tandem

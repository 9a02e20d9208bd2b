#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace tandem {

/// A bounded ring between several producers and one consumer. It delivers values in the order of their indices.
///
/// A producer claims an index, makes its value, and puts it (or fails it). At most `capacity` indices are claimed and
/// not yet taken, so unfinished values count too. Only the consumer may call take(); any thread may call the other
/// methods.
template <class T>
class OrderedQueue {
 public:
  /// REQUIRES: capacity >= 1.
  explicit OrderedQueue(int64_t capacity) : slots_(static_cast<size_t>(capacity)) {}

  /// The next index to make: 0, 1, 2, ... Waits for room; nullopt after stop() or a failure.
  std::optional<int64_t> claim() {
    MutexLock lock(mutex_);
    room_.wait(lock, [this]() TANDEM_REQUIRES(mutex_) {
      return closed_ || claimed_ < taken_ + static_cast<int64_t>(slots_.size());
    });
    if (closed_) return std::nullopt;
    return claimed_++;
  }

  /// REQUIRES: the caller claimed `index`, and has neither put nor failed it.
  void put(int64_t index, T value) {
    const MutexLock lock(mutex_);
    slot(index).value = std::move(value);
    if (index == taken_) ready_.notify_one();
  }

  /// As put(), but take() throws `failure` at this index, and no further index can be claimed.
  void fail(int64_t index, std::exception_ptr failure) {
    const MutexLock lock(mutex_);
    slot(index).failure = std::move(failure);
    closed_ = true;
    room_.notify_all();
    ready_.notify_one();
  }

  /// The next value in order; waits for it. Rethrows its failure, also at every later call. nullopt after stop().
  /// Consumer only.
  std::optional<T> take() {
    MutexLock lock(mutex_);
    Slot& next = slot(taken_);
    ready_.wait(lock, [&]() TANDEM_REQUIRES(mutex_) { return stopped_ || next.value || next.failure; });
    if (stopped_) return std::nullopt;
    if (next.failure) std::rethrow_exception(next.failure);
    std::optional<T> value = std::exchange(next.value, std::nullopt);
    ++taken_;
    room_.notify_one();
    return value;
  }

  /// Ends all waits, now and later.
  void stop() {
    const MutexLock lock(mutex_);
    closed_ = stopped_ = true;
    room_.notify_all();
    ready_.notify_all();
  }

 private:
  struct Slot {
    std::optional<T> value;
    std::exception_ptr failure;
  };

  Slot& slot(int64_t index) TANDEM_REQUIRES(mutex_) { return slots_[static_cast<size_t>(index) % slots_.size()]; }

  Mutex mutex_;
  std::condition_variable_any room_, ready_;
  std::vector<Slot> slots_ TANDEM_GUARDED_BY(mutex_);
  int64_t claimed_ TANDEM_GUARDED_BY(mutex_) = 0, taken_ TANDEM_GUARDED_BY(mutex_) = 0;
  bool closed_ TANDEM_GUARDED_BY(mutex_) = false, stopped_ TANDEM_GUARDED_BY(mutex_) = false;
};

}  // namespace tandem

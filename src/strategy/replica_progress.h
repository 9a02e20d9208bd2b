#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "device/device.h"
#include "device/monitor.h"

namespace tandem {

/// How far one replica has come, seen by the others: a number that grows, and the point in its device's work where
/// that was so.
///
/// publish() on the owner's thread, values one after another; reached(), then follow() or synchronize(), on any.
/// REQUIRES: nobody is still following value v when the owner publishes v + 2.
class ReplicaProgress {
 public:
  /// `point`: where that is so; empty: it is so already.
  void publish(int64_t value, Event point, Monitor& monitor) {
    events_[value % 2] = std::move(point);
    value_.store(value, std::memory_order_release);
    monitor.notify();
  }
  bool reached(int64_t value) const { return value_.load(std::memory_order_acquire) >= value; }

  /// Later work of `device` comes after `value`.
  void follow(int64_t value, const Device& device) const { device.wait(events_[value % 2]); }
  /// Blocks the calling thread until then: for work on the host. Throws as waitOnHost().
  void synchronize(int64_t value, Monitor& monitor) const { waitOnHost(events_[value % 2], monitor); }

 private:
  std::atomic<int64_t> value_{0};
  std::array<Event, 2> events_;
};

}  // namespace tandem

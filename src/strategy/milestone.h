#pragma once

#include <atomic>
#include <cstdint>

#include "base/monitor.h"
#include "device/device.h"

namespace tandem {

/// How far one replica has come, seen by the others: a number that grows, and the point in its device's work where
/// that was so.
///
/// publish() on the owner's thread; reached(), then follow(), on any. REQUIRES: nobody is still following value v when
/// the owner publishes the next one.
class Milestone {
 public:
  void publish(int64_t value, const Device& device, Monitor& monitor) {
    event_ = device.record();
    value_.store(value, std::memory_order_release);
    monitor.notify();
  }
  bool reached(int64_t value) const { return value_.load(std::memory_order_acquire) >= value; }

  /// Later work of `device` comes after it.
  void follow(const Device& device) const { device.wait(event_); }
  /// Blocks the calling thread: for work on the host.
  void synchronize() const;

 private:
  std::atomic<int64_t> value_{0};
  Event event_;
};

}  // namespace tandem

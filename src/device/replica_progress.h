#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "device/device.h"
#include "device/monitor.h"

namespace tandem {

/// One replica's progress for the others to see: a counter that only grows, with the device event after which its value
/// holds.
///
/// publish() runs on the owner's thread, with consecutive values from 1. Any thread calls await(); or reached(), then
/// follow() or synchronize(). 0 is reached from the start. Events of two values are kept. REQUIRES: nobody still
/// follows value v when the owner publishes v + 2.
class ReplicaProgress {
 public:
  /// `event` may be empty: `value` then holds already. The release store of the value publishes the event.
  void publish(int64_t value, Event point, Monitor& monitor) {
    events_[value % 2] = std::move(point);
    value_.store(value, std::memory_order_release);
    monitor.notify();
  }
  bool reached(int64_t value) const { return value_.load(std::memory_order_acquire) >= value; }

  /// Blocks the calling thread until the owner has published `value`, then follow(). Throws PeerError when another
  /// replica has failed.
  void await(int64_t value, const Device& device, Monitor& monitor) const {
    monitor.waitUntil([&] { return reached(value); });
    follow(value, device);
  }

  /// Orders later work of `device` after `value`.
  void follow(int64_t value, const Device& device) const { device.wait(events_[value % 2]); }
  /// Blocks the calling thread until `value` holds. Throws as waitOnHost().
  void synchronize(int64_t value, Monitor& monitor) const { waitOnHost(events_[value % 2], monitor); }

 private:
  std::atomic<int64_t> value_{0};
  std::array<Event, 2> events_;
};

/// Whether all have reached the value of this milestone.
template <class State>
bool allReached(const std::vector<State>& all, ReplicaProgress State::*milestone, int64_t value) {
  return std::ranges::all_of(all, [&](const State& one) { return (one.*milestone).reached(value); });
}

}  // namespace tandem

#pragma once

#include <atomic>
#include <cstdint>

#include "device/device.h"
#include "device/monitor.h"

namespace tandem {

/// Says that one replica has enqueued something of a step, and lets the others' devices wait for it.
class StepSignal {
 public:
  /// By the replica on `device`: all that it has enqueued so far belongs to `step`.
  void raise(const Device& device, int64_t step, Monitor& monitor) {
    event_ = device.record();
    step_.store(step, std::memory_order_release);
    monitor.notify();
  }

  /// Waits on the host until the signal was raised for `step`, and makes `device` wait for the event. A step's signal
  /// must not be raised anew before all who await it have returned. Throws PeerError when another replica has failed.
  void await(const Device& device, int64_t step, Monitor& monitor) {
    monitor.waitUntil([&] { return step_.load(std::memory_order_acquire) >= step; });
    device.wait(event_);
  }

 private:
  std::atomic<int64_t> step_{-1};
  Event event_;
};

}  // namespace tandem

#pragma once

#include <c10/core/Event.h>

#include <cstdint>
#include <deque>

#include "device/device.h"

namespace tandem {

/// Bounds the steps that a device was given and has not done (--in-flight): the host runs ahead of a GPU, but no
/// further. On the replica's thread.
class StepsInFlight {
 public:
  /// REQUIRES: most >= 1; with 1 the host waits for every step.
  explicit StepsInFlight(int64_t most) : most_(most) {}

  /// The end of the step that was enqueued last. Returns when another one may be. An empty event has happened.
  void add(Event end) {
    if (!end) return;
    ends_.push_back(std::move(end));
    for (; static_cast<int64_t>(ends_.size()) >= most_; ends_.pop_front()) ends_.front()->synchronize();
  }

 private:
  int64_t most_;
  std::deque<Event> ends_;  // of steps that may still run
};

}  // namespace tandem

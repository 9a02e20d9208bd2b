#pragma once

#include <cstdint>
#include <deque>

#include "device/device.h"

namespace tandem {

/// Limits the number of steps in flight (--in-flight): how far the host may run ahead of a GPU. All calls come from the
/// replica's thread.
class InFlightLimiter {
 public:
  /// `most`: the number of steps in flight; with 1 the host waits for every step. `monitor`: the run's; outlives this
  /// object. REQUIRES: most >= 1.
  InFlightLimiter(int64_t most, Monitor& monitor) : most_(most), monitor_(monitor) {}

  /// Adds the end of the step that was enqueued last; an empty event has happened. Returns when another step may be
  /// enqueued. Throws as waitOnHost().
  void add(Event end) {
    if (!end) return;
    ends_.push_back(std::move(end));
    for (; static_cast<int64_t>(ends_.size()) >= most_; ends_.pop_front()) waitOnHost(ends_.front(), monitor_);
  }

 private:
  int64_t most_;
  Monitor& monitor_;
  std::deque<Event> ends_;  // ends of steps that may still run
};

}  // namespace tandem

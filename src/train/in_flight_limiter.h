#pragma once

#include <cstdint>
#include <deque>

#include "device/device.h"

namespace tandem {

/// Bounds the steps that a device was given and has not done (--in-flight): the host runs ahead of a GPU, but no
/// further. On the replica's thread.
class InFlightLimiter {
 public:
  /// REQUIRES: most >= 1; with 1 the host waits for every step.
  /// `monitor`: of the run; outlives this.
  InFlightLimiter(int64_t most, Monitor& monitor) : most_(most), monitor_(monitor) {}

  /// The end of the step that was enqueued last. Returns when another one may be. Throws as waitOnHost().
  void add(Event end) {
    if (!end) return;
    ends_.push_back(std::move(end));
    for (; static_cast<int64_t>(ends_.size()) >= most_; ends_.pop_front()) waitOnHost(ends_.front(), monitor_);
  }

 private:
  int64_t most_;
  Monitor& monitor_;
  std::deque<Event> ends_;  // of steps that may still run
};

}  // namespace tandem

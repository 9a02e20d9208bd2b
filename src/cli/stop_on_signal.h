#pragma once

#include <signal.h>

#include <array>

namespace tandem {

/// While it lives, SIGINT (Ctrl-C), SIGTERM and SIGHUP make PointRunner stop, instead of ending this process. A SIGHUP
/// that is ignored, as below nohup, stays ignored. Its destructor restores the handlers from before.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace tandem

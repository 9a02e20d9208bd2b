#pragma once

#include <signal.h>

#include <array>

namespace tandem {

/// While it lives, Ctrl-C and a request to terminate make PointRunner stop instead of ending the process.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  static constexpr std::array signals{SIGINT, SIGTERM};
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace tandem

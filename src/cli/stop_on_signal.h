#pragma once

#include <signal.h>

#include <array>

namespace tandem {

/// While it lives, SIGINT (Ctrl-C) and SIGTERM make PointRunner stop, instead of ending this process. Its destructor
/// restores the handlers from before.
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

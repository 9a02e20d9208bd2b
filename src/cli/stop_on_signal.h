#pragma once

#include <span>

#include "machine/process/signals.h"
#include "run/child/point_runner.h"

namespace tandem {

/// While it lives, SIGINT (Ctrl-C), SIGTERM, SIGHUP and other `signals` make PointRunner stop, instead of ending this
/// process. A SIGHUP that is ignored, as below nohup, stays ignored. Its destructor restores the handlers from before.
class StopOnSignal {
 public:
  explicit StopOnSignal(std::span<const int> signals = endingSignals)
      : handlers_(signals, [](int) { PointRunner::requestStop(); }) {}

 private:
  SignalHandlers handlers_;
};

}  // namespace tandem

#pragma once

#include "machine/process/signals.h"
#include "run/child/point_runner.h"

namespace tandem {

/// While it lives, SIGINT (Ctrl-C), SIGTERM and SIGHUP make PointRunner stop, instead of ending this process. A SIGHUP
/// that is ignored, as below nohup, stays ignored. Its destructor restores the handlers from before.
class StopOnSignal {
 public:
  StopOnSignal() : handlers_(endingSignals, [](int) { PointRunner::requestStop(); }) {}

 private:
  SignalHandlers handlers_;
};

}  // namespace tandem

#pragma once

#include <array>
#include <span>

#include "machine/process/signals.h"
#include "run/child/point_runner.h"

namespace tandem {

/// Signals by which a training ends after a checkpoint. Schedulers send SIGUSR1 some time before they end a job.
inline constexpr std::array trainingSignals{SIGINT, SIGTERM, SIGHUP, SIGUSR1};

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

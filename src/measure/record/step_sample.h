#pragma once

#include "base/clock.h"

namespace tandem {

/// One step of one replica, raw; averages are computed only by readers.
/// `wall` lasts from the start of the step to its end on that replica's thread. `input` is the wait for the batch.
/// `compute` is forward, loss and backward. `exposedComm` is the time of the strategy's exchange and update after
/// backward, and of what it does before the batch, such as pulling weights. On an asynchronous device these are times
/// of the host thread.
struct StepSample {
  int replica = 0;
  Nanos wall{};
  Nanos input{};
  Nanos compute{};
  Nanos exposedComm{};

  bool operator==(const StepSample&) const = default;
};

}  // namespace tandem

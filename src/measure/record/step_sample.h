#pragma once

#include "base/clock.h"

namespace tandem {

/// One step of one replica, raw; averaged only when read.
///
/// `wall` is from the start of the step to the start of the next on that replica's thread. `input` is the wait for
/// the batch, `compute` forward, loss and backward, `exposedComm` what the strategy's exchange and update took after
/// backward. On an asynchronous device these are times of the host thread.
struct StepSample {
  int replica = 0;
  Nanos wall{};
  Nanos input{};
  Nanos compute{};
  Nanos exposedComm{};

  bool operator==(const StepSample&) const = default;
};

}  // namespace tandem

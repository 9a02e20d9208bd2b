#pragma once

#include <optional>

#include "machine/process/signals.h"

namespace tandem {

/// While it lives, SIGINT (Ctrl-C), SIGTERM and SIGHUP end this process at once, with one line, the exit code of
/// `interrupted`, and without temporary files. What keeps finished work on a signal has handlers of its own
/// (StopOnSignal). A child of this program says nothing, because its parent does.
class EndOnSignal {
 public:
  EndOnSignal();

 private:
  std::optional<SignalHandlers> handlers_;
};

}  // namespace tandem

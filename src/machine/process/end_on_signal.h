#pragma once

namespace tandem {

/// Has SIGINT (Ctrl-C), SIGTERM and SIGHUP end this process at once, with one line and the exit code of `interrupted`.
/// What keeps finished work on a signal has handlers of its own later on. A SIGHUP that is ignored stays ignored. It
/// makes system calls alone, so it can be called before the libraries start.
void endOnSignals() noexcept;

/// What such an end does first: `cleanUp`, which is async-signal-safe.
void beforeEndBySignal(void (*cleanUp)() noexcept) noexcept;

}  // namespace tandem

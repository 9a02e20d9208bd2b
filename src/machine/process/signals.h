#pragma once

#include <signal.h>

#include <array>
#include <span>
#include <utility>
#include <vector>

namespace tandem {

/// Signals by which a user or a scheduler ends a program.
inline constexpr std::array endingSignals{SIGINT, SIGTERM, SIGHUP};

/// Those by which a training ends with a checkpoint. Schedulers send SIGUSR1 some time before they end a job.
inline constexpr std::array trainingSignals{SIGINT, SIGTERM, SIGHUP, SIGUSR1};

/// From now on the signal calls `handler`, which is async-signal-safe, and interrupts system calls as poll(2). A SIGHUP
/// that is ignored, as below nohup, stays ignored. Returns what it did before. It makes system calls alone.
struct sigaction handle(int signal, void (*handler)(int)) noexcept;

/// handle() of these signals while it lives. Its destructor restores what they did before.
class SignalHandlers {
 public:
  SignalHandlers(std::span<const int> signals, void (*handler)(int));
  ~SignalHandlers();
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;

 private:
  std::vector<std::pair<int, struct sigaction>> before_;
};

/// While it lives, SIGCHLD and the ending signals of this process can be awaited by poll(2), beside other descriptors.
/// One lives at a time.
class SignalPipe {
 public:
  /// Throws UsageError if no more files can be open, InternalError if the system refuses otherwise.
  SignalPipe();
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  int descriptor() const { return ends_[0]; }  ///< readable when signals have come

  /// The signals that have come, in their order, without waiting.
  std::vector<int> take() const;

 private:
  std::array<int, 2> ends_;
  SignalHandlers handlers_;
};

}  // namespace tandem

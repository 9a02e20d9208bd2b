#include "machine/process/signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "machine/process/resource_limits.h"

namespace tandem {
namespace {

constexpr std::array awaited{SIGCHLD, SIGINT, SIGTERM, SIGHUP};

std::atomic<int> pipeEnd{-1};
static_assert(std::atomic<int>::is_always_lock_free);

/// A pipe that is full wakes its reader already.
void writeToPipe(int signal) {
  const int before = errno;
  const auto byte = static_cast<unsigned char>(signal);
  if (::write(pipeEnd.load(), &byte, 1) < 0) errno = before;
}

std::array<int, 2> openPipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    const int error = errno;
    const std::string limit = limitText(error);
    if (!limit.empty()) throw UsageError(concat("cannot open a pipe: ", limit));
    throw InternalError(concat("cannot open a pipe: ", std::strerror(error)));
  }
  pipeEnd.store(ends[1]);
  return ends;
}

}  // namespace

struct sigaction handle(int signal, void (*handler)(int)) noexcept {
  struct sigaction action {
  }, before{};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, nullptr, &before);
  if (signal != SIGHUP || before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  return before;
}

SignalHandlers::SignalHandlers(std::span<const int> signals, void (*handler)(int)) {
  for (const int signal : signals) before_.emplace_back(signal, handle(signal, handler));
}

SignalHandlers::~SignalHandlers() {
  for (const auto& [signal, before] : before_) sigaction(signal, &before, nullptr);
}

SignalPipe::SignalPipe() : ends_(openPipe()), handlers_(awaited, writeToPipe) {}

// A handler that runs meanwhile on another thread writes to no descriptor, or to this pipe.
SignalPipe::~SignalPipe() {
  pipeEnd.store(-1);
  for (const int end : ends_) close(end);
}

std::vector<int> SignalPipe::take() const {
  std::vector<int> signals;
  unsigned char bytes[256];
  for (ssize_t count; (count = ::read(descriptor(), bytes, sizeof bytes)) > 0;) {
    signals.insert(signals.end(), bytes, bytes + count);
  }
  return signals;
}

}  // namespace tandem

#include "machine/process/prepare_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "machine/process/child_process.h"
#include "machine/process/end_on_signal.h"
#include "machine/process/resource_limits.h"

namespace tandem {
namespace {

/// open() returns the lowest free descriptor, so the loop fills exactly the gaps. Returns whether output was there.
bool fillStandardDescriptors() {
  bool hasOutput = true;
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    if (::open("/dev/null", O_RDWR) < 0)
      throw StorageError("/dev/null cannot be opened; it stands for a closed descriptor");
    hasOutput = hasOutput && descriptor != STDOUT_FILENO;
  }
  return hasOutput;
}

/// Without a current folder MKL ends the process with a line of its own when the libraries start.
void requireFolder() {
  constexpr std::string_view text = "error[usage]: the current folder no longer exists; change to another\n";
  char path[PATH_MAX];
  if (::getcwd(path, sizeof path) != nullptr || errno != ENOENT) return;
  const ssize_t told = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(static_cast<int>(told < 0 ? ExitCode::storage : ExitCode::usage));
}

/// The process that started this one as its child, by parentVariable; 0: none did. getenv() does not work yet.
pid_t parentIn(char** environment) {
  const std::string_view variable = parentVariable;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (!entry.starts_with(variable) || !entry.substr(variable.size()).starts_with('=')) continue;
    uint32_t parent = 0;
    for (const char digit : entry.substr(variable.size() + 1))
      parent = 10 * parent + static_cast<uint32_t>(digit - '0');
    return static_cast<pid_t>(parent);
  }
  return 0;
}

/// The kernel sends the signal only if the parent ends after prctl(). One that ended before is no longer the parent.
void endWithParent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::kill(::getpid(), SIGKILL);
}

/// The libraries take a fifth of a second to start. This runs before they do, where nothing but system calls can be
/// relied on. A child leaves it to its parent to say that it was ended.
void beforeLibraries(int, char**, char** environment) {
  ::signal(SIGXFSZ, SIG_IGN);
  requireFolder();
  const pid_t parent = parentIn(environment);
  if (parent != 0) return endWithParent(parent);
#ifndef TANDEM_SANITIZED  // whose runtime has not started either, and takes part in signals
  endOnSignals();
#endif
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const startsFirst)(int, char**, char**) = beforeLibraries;

/// Several threads may be told at once; one of them says so.
void onCpuTimeLimit(int) {
  static std::atomic_flag told;
  if (told.test_and_set()) return;
  constexpr std::string_view text =
      "error[usage]: the CPU time that this process may take is over (ulimit -t); raise it\n";
  const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(static_cast<int>(written < 0 ? ExitCode::storage : ExitCode::usage));
}

/// A child leaves it to its parent to say so.
void explainCpuTimeLimit() {
  askForCpuTimeSignal();
  if (std::getenv(parentVariable) == nullptr) ::signal(SIGXCPU, onCpuTimeLimit);
}

}  // namespace

void prepareProcess() {
  if (!fillStandardDescriptors()) throw StorageError("standard output is closed; give it a file, or /dev/null");
  requireLimits();
  explainCpuTimeLimit();
}

}  // namespace tandem

#include "cli/signals/end_on_signal.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "formats/io/temporary_name.h"
#include "machine/process/child_process.h"

namespace tandem {
namespace {

/// Several threads may be told at once; one of them says so.
void endProcess(int) {
  static std::atomic_flag told;
  if (told.test_and_set()) return;
  constexpr std::string_view text = "error[interrupted]: interrupted before its end\n";
  removeTemporaryFiles();
  const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(static_cast<int>(written < 0 ? ExitCode::storage : ExitCode::interrupted));
}

}  // namespace

EndOnSignal::EndOnSignal() {
  if (std::getenv(parentVariable) == nullptr) handlers_.emplace(endingSignals, endProcess);
}

}  // namespace tandem

#include "machine/process/end_on_signal.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "base/error.h"
#include "machine/process/signals.h"

namespace tandem {
namespace {

using CleanUp = void (*)() noexcept;
std::atomic<CleanUp> cleanUpFirst{nullptr};
static_assert(std::atomic<CleanUp>::is_always_lock_free);

/// Several threads may be told at once; one of them says so.
void endProcess(int) {
  static std::atomic_flag told;
  if (told.test_and_set()) return;
  if (const CleanUp cleanUp = cleanUpFirst.load()) cleanUp();
  constexpr std::string_view text = "error[interrupted]: interrupted before its end\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(static_cast<int>(ExitCode::interrupted));
}

}  // namespace

void endOnSignals() noexcept {
  for (const int number : endingSignals) handle(number, endProcess);
}

void beforeEndBySignal(void (*cleanUp)() noexcept) noexcept { cleanUpFirst.store(cleanUp); }

}  // namespace tandem

#include "base/error.h"

#include "base/text.h"
#include "base/utf8.h"

namespace tandem {

ExitCode exitCodeOf(const std::exception& failure) noexcept {
  const auto* error = dynamic_cast<const Error*>(&failure);
  return error != nullptr ? error->code() : ExitCode::internal;
}

std::string lineOf(const std::exception& failure) {
  const bool own = dynamic_cast<const Error*>(&failure) != nullptr;
  return withoutControls(own ? failure.what() : firstLine(failure.what()));
}

const char* nameOf(ExitCode code) noexcept {
  switch (code) {
    case ExitCode::ok:
      return "ok";
    case ExitCode::usage:
      return "usage";
    case ExitCode::data:
      return "data";
    case ExitCode::checkpoint:
      return "checkpoint";
    case ExitCode::rendezvous:
      return "rendezvous";
    case ExitCode::peer:
      return "peer";
    case ExitCode::numeric:
      return "numeric";
    case ExitCode::storage:
      return "storage";
    case ExitCode::invalidMeasurement:
      return "invalid measurement";
    case ExitCode::stoppedAndSaved:
      return "stopped";
    case ExitCode::interrupted:
      return "interrupted";
    case ExitCode::internal:
      break;
  }
  return "internal";
}

void check(bool condition, const char* what) {
  if (!condition) throw InternalError(std::string("internal check failed: ") + what);
}

}  // namespace tandem

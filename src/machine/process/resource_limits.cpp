#include "machine/process/resource_limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

struct LimitRow {
  __rlimit_resource resource;
  const char *what, *option;
  int error;     ///< of a call that the limit refuses; 0: the system sends a signal
  rlim_t least;  ///< that a run needs
  rlim_t rlimit::*which = &rlimit::rlim_cur;
};

constexpr LimitRow limits[] = {
    {RLIMIT_NOFILE, "open files", "ulimit -n", EMFILE, 64},
    {RLIMIT_NPROC, "processes and threads of a user", "ulimit -u", EAGAIN, 0},
    {RLIMIT_STACK, "bytes of stack", "ulimit -s, in KiB", 0, 1 << 20},
    {RLIMIT_CPU, "seconds of CPU time", "ulimit -t", 0, 2, &rlimit::rlim_max},
};

/// RLIM_INFINITY, the largest number, without a limit.
rlim_t valueOf(const LimitRow& row) {
  rlimit limit{};
  return ::getrlimit(row.resource, &limit) == 0 ? limit.*row.which : RLIM_INFINITY;
}

const LimitRow& rowOf(__rlimit_resource resource) { return *std::ranges::find(limits, resource, &LimitRow::resource); }

std::string numberText(rlim_t limit) { return limit == RLIM_INFINITY ? "all that the system has" : concat(limit); }

}  // namespace

std::string limitText(int error) {
  const auto row = std::ranges::find(limits, error, &LimitRow::error);
  if (error == 0 || row == std::end(limits)) return "";
  return concat(numberText(valueOf(*row)), ' ', row->what, " are the most here (", row->option, "); raise it");
}

Error explained(const std::exception& failure) {
  const auto* const refused = dynamic_cast<const std::system_error*>(&failure);
  const std::string limit = refused == nullptr ? "" : limitText(refused->code().value());
  if (limit.empty()) return {exitCodeOf(failure), lineOf(failure)};
  return {ExitCode::usage, concat(lineOf(failure), ": ", limit)};
}

double mostCpuSeconds() {
  const rlim_t limit = valueOf(rowOf(RLIMIT_CPU));
  return limit == RLIM_INFINITY ? std::numeric_limits<double>::infinity() : static_cast<double>(limit);
}

void askForCpuTimeSignal() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return;
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max - 1);
  ::setrlimit(RLIMIT_CPU, &limit);
}

void requireLimits() {
  for (const LimitRow& row : limits) {
    const rlim_t limit = valueOf(row);
    if (limit >= row.least) continue;
    throw UsageError(concat(limit, ' ', row.what, " are the most here (", row.option, "); at least ", row.least,
                            " are needed: raise it"));
  }
}

}  // namespace tandem

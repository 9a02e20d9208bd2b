#include "machine/process/resource_limits.h"

#include <sys/resource.h>

#include <cerrno>
#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr rlim_t leastStack = 1 << 20;

struct LimitRow {
  int error;
  __rlimit_resource resource;
  const char *what, *option;
};

constexpr LimitRow limits[] = {
    {EMFILE, RLIMIT_NOFILE, "open files", "ulimit -n"},
    {EAGAIN, RLIMIT_NPROC, "processes and threads of a user", "ulimit -u"},
    {EFBIG, RLIMIT_FSIZE, "bytes of a file", "ulimit -f"},
};

rlim_t softLimit(__rlimit_resource resource) {
  rlimit limit{};
  return ::getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

std::string numberText(rlim_t limit) { return limit == RLIM_INFINITY ? "all that the system has" : concat(limit); }

}  // namespace

std::string limitText(int error) {
  for (const LimitRow& row : limits) {
    if (row.error != error) continue;
    return concat(numberText(softLimit(row.resource)), ' ', row.what, " are the most here (", row.option,
                  "); raise it");
  }
  return "";
}

double mostCpuSeconds() {
  const rlim_t limit = softLimit(RLIMIT_CPU);
  return limit == RLIM_INFINITY ? std::numeric_limits<double>::infinity() : static_cast<double>(limit);
}

void requireStack() {
  const rlim_t stack = softLimit(RLIMIT_STACK);
  if (stack == RLIM_INFINITY || stack >= leastStack) return;
  throw UsageError(concat("the stack is limited to ", stack / 1024, " KiB (ulimit -s); it must be at least ",
                          leastStack / 1024, " KiB: raise it"));
}

}  // namespace tandem

#include "machine/process/process_clock.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "base/error.h"

namespace tandem {
namespace {

constexpr int fieldsBeforeStart = 19;  // of /proc/self/stat after the command's closing parenthesis

Nanos startSinceBoot() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < fieldsBeforeStart; ++i) fields >> skipped;
  int64_t ticks = 0;
  check(static_cast<bool>(fields >> ticks), "start time in /proc/self/stat");
  return Nanos(ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK)));
}

}  // namespace

Nanos sinceProcessStart() {
  timespec boot{};
  clock_gettime(CLOCK_BOOTTIME, &boot);
  return std::chrono::seconds(boot.tv_sec) + Nanos(boot.tv_nsec) - startSinceBoot();
}

int64_t minorFaultsSoFar() {
  rusage usage{};
  check(getrusage(RUSAGE_SELF, &usage) == 0, "getrusage");
  return usage.ru_minflt;
}

}  // namespace tandem

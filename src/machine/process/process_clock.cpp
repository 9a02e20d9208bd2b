#include "machine/process/process_clock.h"

#include <sys/resource.h>
#include <time.h>

#include <fstream>
#include <string>

#include "base/error.h"
#include "machine/process/stat_line.h"

namespace tandem {
namespace {

constexpr int startTime = 19;  // field of timeInStat()

Nanos startSinceBoot() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const auto start = timeInStat(line, startTime);
  check(start.has_value(), "start time in /proc/self/stat");
  return *start;
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

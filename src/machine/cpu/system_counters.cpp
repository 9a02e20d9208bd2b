#include "machine/cpu/system_counters.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "machine/cpu/cgroup.h"
#include "machine/cpu/host_facts.h"

namespace tandem {
namespace {

constexpr std::string_view blanks = " \t\n";

/// The leading numbers of a line after its first word.
std::vector<int64_t> numbersOf(std::string_view line) {
  std::vector<int64_t> numbers;
  const auto words = split(line, blanks);
  for (size_t i = 1; i < words.size(); ++i) {
    if (const auto value = wholeNumber(words[i])) numbers.push_back(*value);
  }
  return numbers;
}

/// Fields of a line of /proc/stat, proc(5). `user` and `nice` already include the time of guests.
enum Field { user, nice, system, idle, iowait, irq, softirq, steal, fields };

Nanos ticks(int64_t count) { return Nanos(count * (1'000'000'000 / sysconf(_SC_CLK_TCK))); }

std::optional<CpuTimes> timesIn(const std::vector<int64_t>& line) {
  if (line.size() < fields) return {};
  const int64_t busy = line[user] + line[nice] + line[system] + line[irq] + line[softirq];
  return CpuTimes{ticks(busy), ticks(line[steal])};
}

std::optional<Nanos> clock(clockid_t id) {
  timespec time{};
  if (clock_gettime(id, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

void readCpus(std::span<const int> cpus, SystemCounters& counters) {
  const auto times = cpuTimes(textOf("/proc/stat"), cpus);
  if (!times) return;
  Nanos busy{}, stolen{};
  for (const CpuTimes& cpu : *times) {
    busy += cpu.busy;
    stolen += cpu.stolen;
  }
  counters.busy = busy;
  counters.stolen = stolen;
}

/// Sum over the threads of the second number of schedstat: nanoseconds on a run queue.
std::optional<Nanos> queuedTime() {
  std::optional<Nanos> sum;
  std::error_code ignored;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    const auto words = split(textOf(thread.path() / "schedstat"), blanks);
    const auto waited = words.size() > 1 ? wholeNumber(words[1]) : std::nullopt;
    if (waited) sum = sum.value_or(Nanos{}) + Nanos(*waited);
  }
  return sum;
}

/// The line is "some avg10=... total=MICROSECONDS".
std::optional<Nanos> pressureTime() {
  const auto line = split(textOf("/proc/pressure/cpu"), "\n").front();
  const auto at = line.rfind("total=");
  if (at == std::string::npos) return {};
  const auto micros = wholeNumber(std::string_view(line).substr(at + 6));
  if (!micros) return {};
  return std::chrono::microseconds(*micros);
}

}  // namespace

std::optional<std::vector<CpuTimes>> cpuTimes(std::string_view procStat, std::span<const int> cpus) {
  std::vector<CpuTimes> found;
  const auto lines = split(procStat, "\n");
  for (const int cpu : cpus) {
    const auto prefix = concat("cpu", cpu, ' ');
    const auto line = std::ranges::find_if(lines, [&](const auto& text) { return text.starts_with(prefix); });
    const auto times = line == lines.end() ? std::nullopt : timesIn(numbersOf(*line));
    if (!times) return {};
    found.push_back(*times);
  }
  return found;
}

SystemCounters readCounters(std::span<const int> cpus) {
  SystemCounters counters;
  counters.steady = now();
  counters.sinceBoot = clock(CLOCK_BOOTTIME);
  counters.wallClock = clock(CLOCK_REALTIME);
  counters.own = clock(CLOCK_PROCESS_CPUTIME_ID);
  readCpus(cpus, counters);
  counters.queued = queuedTime();
  counters.throttled = Cgroup().throttled();
  counters.pressure = pressureTime();
  rusage usage{};
  check(getrusage(RUSAGE_SELF, &usage) == 0, "getrusage");
  counters.involuntary = usage.ru_nivcsw;
  return counters;
}

}  // namespace tandem

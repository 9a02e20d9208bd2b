#include "machine/process/process_times.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/number.h"
#include "machine/process/stat_line.h"

namespace tandem {
namespace {

constexpr int userTime = 11, systemTime = 12;  // fields of timeInStat()

/// Of a line of /proc/PID/stat. Empty if it is none.
std::optional<ProcessTime> parse(int id, const std::string& line) {
  const size_t open = line.find('('), close = line.rfind(')');
  const auto user = timeInStat(line, userTime), system = timeInStat(line, systemTime);
  if (open > close || !user || !system) return std::nullopt;
  return ProcessTime{id, line.substr(open + 1, close - open - 1), *user + *system};
}

/// What each process that is there afterwards has used since.
std::vector<ProcessTime> between(std::span<const ProcessTime> before, std::span<const ProcessTime> after) {
  std::map<int, Nanos> begun;
  for (const ProcessTime& process : before) begun[process.id] = process.used;
  std::vector<ProcessTime> used(after.begin(), after.end());
  for (ProcessTime& process : used) process.used -= begun[process.id];
  return used;
}

}  // namespace

std::vector<ProcessTime> processTimes() {
  std::vector<ProcessTime> times;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const auto id = numberIn<int>(entry->path().filename().string());
    if (!id) continue;
    std::ifstream file(entry->path() / "stat");
    const std::string line(std::istreambuf_iterator<char>(file), {});
    if (auto time = parse(*id, line)) times.push_back(*std::move(time));  // else it has ended
  }
  return times;
}

std::optional<ProcessTime> busiest(std::span<const ProcessTime> before, std::span<const ProcessTime> after,
                                   std::span<const int> apart) {
  std::optional<ProcessTime> most;
  for (ProcessTime& process : between(before, after)) {
    if (std::ranges::find(apart, process.id) != apart.end()) continue;
    if (process.used > (most ? most->used : Nanos{})) most = std::move(process);
  }
  return most;
}

Nanos usedBy(std::span<const int> processes, std::span<const ProcessTime> before, std::span<const ProcessTime> after) {
  Nanos used{};
  for (const ProcessTime& process : between(before, after)) {
    if (std::ranges::find(processes, process.id) != processes.end()) used += process.used;
  }
  return used;
}

}  // namespace tandem

#include "machine/process/process_times.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "base/number.h"

namespace tandem {
namespace {

constexpr int fieldsToUserTime = 11;  // behind the name, before utime

/// Of a line of /proc/PID/stat: "PID (NAME) STATE ...", where the name may hold anything. Empty if it is none.
std::optional<ProcessTime> parse(int id, const std::string& line) {
  const size_t open = line.find('('), close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  std::istringstream fields(line.substr(close + 1));
  std::string skipped;
  for (int i = 0; i < fieldsToUserTime; ++i) fields >> skipped;
  int64_t user = 0, system = 0;
  if (!(fields >> user >> system)) return std::nullopt;
  const Nanos tick(1'000'000'000 / sysconf(_SC_CLK_TCK));
  return ProcessTime{id, line.substr(open + 1, close - open - 1), tick * (user + system)};
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
  std::map<int, Nanos> begun;
  for (const ProcessTime& process : before) begun[process.id] = process.used;
  std::optional<ProcessTime> most;
  for (const ProcessTime& process : after) {
    if (std::ranges::find(apart, process.id) != apart.end()) continue;
    const Nanos used = process.used - begun[process.id];
    if (used > (most ? most->used : Nanos{})) most = {process.id, process.name, used};
  }
  return most;
}

}  // namespace tandem

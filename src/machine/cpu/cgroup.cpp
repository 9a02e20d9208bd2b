#include "machine/cpu/cgroup.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace tandem {
namespace {

namespace fs = std::filesystem;

std::optional<double> readNumber(const fs::path& file) {
  std::ifstream in(file);
  double value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

double readField(const fs::path& file, const std::string& field) {
  std::ifstream in(file);
  std::string name;
  for (double value = 0; in >> name >> value;) {
    if (name == field) return value;
  }
  return 0;
}

bool hasController(const std::string& controllers, const std::string& name) {
  std::istringstream in(controllers);
  for (std::string one; std::getline(in, one, ',');) {
    if (one == name) return true;
  }
  return false;
}

// Adds the folders from the process's own group up to the root of the hierarchy. In a container, host paths may be
// invisible; they are skipped when their files are read.
void addAncestors(const fs::path& mount, const std::string& group, std::vector<fs::path>& folders) {
  for (fs::path relative = fs::path(group).relative_path();; relative = relative.parent_path()) {
    folders.push_back(mount / relative);
    if (relative.empty()) return;
  }
}

// Lines of /proc/self/cgroup are "ID:CONTROLLERS:PATH". Version 2 leaves CONTROLLERS empty.
std::vector<fs::path> groupFolders(const std::string& root, const std::string& controller) {
  std::vector<fs::path> folders;
  const fs::path mounts = root + "/sys/fs/cgroup";
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (controllers.empty()) {
      addAncestors(mounts, group, folders);
      addAncestors(mounts / "unified", group, folders);
    } else if (hasController(controllers, controller)) {
      addAncestors(mounts / controllers, group, folders);
      if (controllers != controller) addAncestors(mounts / controller, group, folders);
    }
  }
  return folders;
}

std::optional<double> cpusOf(const fs::path& folder) {
  std::optional<double> quota = readNumber(folder / "cpu.cfs_quota_us"), period;
  if (quota) {
    period = readNumber(folder / "cpu.cfs_period_us");
  } else {
    std::ifstream in(folder / "cpu.max");
    double limit = 0, interval = 0;
    if (in >> limit >> interval) quota = limit, period = interval;
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

std::optional<int64_t> memoryLeftIn(const fs::path& folder) {
  std::optional<double> limit = readNumber(folder / "memory.max"), used = readNumber(folder / "memory.current");
  if (!limit) {
    limit = readNumber(folder / "memory.limit_in_bytes");
    used = readNumber(folder / "memory.usage_in_bytes");
  }
  constexpr double unlimited = 1LL << 60;
  if (!limit || !used || *limit >= unlimited) return std::nullopt;
  const double reclaimable = std::max(readField(folder / "memory.stat", "total_inactive_file"),
                                      readField(folder / "memory.stat", "inactive_file"));
  return static_cast<int64_t>(std::max(0.0, *limit - *used + std::min(reclaimable, *used)));
}

/// Version 2 counts microseconds, version 1 nanoseconds.
std::optional<std::chrono::nanoseconds> throttledIn(const fs::path& folder) {
  const fs::path file = folder / "cpu.stat";
  if (!fs::exists(file)) return std::nullopt;
  const double nanos = readField(file, "throttled_usec") * 1e3 + readField(file, "throttled_time");
  return std::chrono::nanoseconds(static_cast<int64_t>(nanos));
}

}  // namespace

double Cgroup::cpus() const {
  double strictest = 0;
  for (const fs::path& folder : groupFolders(root_, "cpu")) {
    const auto limit = cpusOf(folder);
    if (limit && (strictest == 0 || *limit < strictest)) strictest = *limit;
  }
  return strictest;
}

std::optional<int64_t> Cgroup::memoryLeft() const {
  std::optional<int64_t> strictest;
  for (const fs::path& folder : groupFolders(root_, "memory")) {
    const auto left = memoryLeftIn(folder);
    if (left && (!strictest || *left < *strictest)) strictest = left;
  }
  return strictest;
}

std::optional<std::chrono::nanoseconds> Cgroup::throttled() const {
  std::optional<std::chrono::nanoseconds> longest;
  for (const fs::path& folder : groupFolders(root_, "cpu")) {
    const auto time = throttledIn(folder);
    if (time && (!longest || *time > *longest)) longest = time;
  }
  return longest;
}

}  // namespace tandem

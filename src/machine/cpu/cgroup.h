#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace tandem {

/// Limits of control groups, versions 1 and 2, on this process. The strictest limit between its own group and the root
/// counts.
/// `root` is prepended to /proc and /sys (tests). A limit that cannot be read counts as none.
struct Cgroup {
  explicit Cgroup(std::string root = "") : root_(std::move(root)) {}

  /// CPU bandwidth in CPUs (1.5: one and a half); 0: no limit.
  double cpus() const;
  /// Bytes left below the memory limit; reclaimable file cache counts as free. Empty: no limit.
  std::optional<int64_t> memoryLeft() const;
  /// Total time for which the CPU limit stopped processes, in the group where it is longest. Empty: not counted.
  std::optional<std::chrono::nanoseconds> throttled() const;

 private:
  std::string root_;
};

}  // namespace tandem

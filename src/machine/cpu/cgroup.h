#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace tandem {

/// Limits that control groups put on this process, versions 1 and 2: the strictest between its own group and the root.
///
/// `root` is prepended to /proc and /sys (tests). A limit that cannot be read counts as none.
struct Cgroup {
  explicit Cgroup(std::string root = "") : root_(std::move(root)) {}

  /// CPU bandwidth in CPUs (1.5: one and a half); 0: no limit.
  double cpus() const;
  /// Bytes left below the memory limit, reclaimable file cache counted as free; empty: no limit.
  std::optional<int64_t> memoryLeft() const;
  /// For how long so far the CPU limit held processes back, in the group where that is most; empty: not counted.
  std::optional<std::chrono::nanoseconds> throttled() const;

 private:
  std::string root_;
};

}  // namespace tandem

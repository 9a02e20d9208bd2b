#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tandem {

/// The folder for files that can be made again: TANDEM_CACHE, or tandem below XDG_CACHE_HOME or ~/.cache. Empty if none
/// of these variables is set.
std::filesystem::path cacheFolder();

/// The file of timings in that folder. Empty without a folder.
std::filesystem::path timingCacheFile();

/// Measured numbers by key, kept in a text file between runs. The file may be deleted at any time. Damaged lines are
/// ignored. Several processes may use the file at once; one thread at a time may use an object.
class TimingCache {
 public:
  /// Reads the file if it exists. An empty path keeps nothing.
  explicit TimingCache(std::filesystem::path file);

  std::optional<std::vector<double>> find(const std::string& key) const;

  int64_t damaged() const { return damaged_; }  ///< number of ignored lines in the file; a warning was printed

  /// Keeps the numbers in memory and appends them to the file as one line. If the file cannot be written, it prints a
  /// warning and goes on. REQUIRES: no tab or line break in `key`, every number finite.
  void add(const std::string& key, const std::vector<double>& numbers);

 private:
  std::filesystem::path file_;
  std::map<std::string, std::vector<double>> numbers_;
  int64_t damaged_ = 0;
};

}  // namespace tandem

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tandem {

/// Where Tandem keeps what can be made again: TANDEM_CACHE, or tandem below XDG_CACHE_HOME or ~/.cache. Empty when none
/// of these variables is set.
std::filesystem::path cacheFolder();

/// The file of measurements there; empty without a folder.
std::filesystem::path timingCacheFile();

/// Measured numbers by key, kept in a text file from run to run. The file may be deleted at any time; what is damaged
/// in it does not count. Several processes may use it at once; an object is for one thread.
class TimingCache {
 public:
  /// Reads the file if there is one. An empty path keeps nothing.
  explicit TimingCache(std::filesystem::path file);

  std::optional<std::vector<double>> find(const std::string& key) const;

  int64_t damaged() const { return damaged_; }  ///< lines of the file that did not count; there was a warning

  /// Keeps the numbers in memory and appends them to the file as one line. A file that cannot be written is left out
  /// with a warning. REQUIRES: no tab or line break in `key`, every number finite.
  void add(const std::string& key, const std::vector<double>& numbers);

 private:
  std::filesystem::path file_;
  std::map<std::string, std::vector<double>> numbers_;
  int64_t damaged_ = 0;
};

}  // namespace tandem

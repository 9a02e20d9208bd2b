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

/// The numbers of one measurement, and how they came about.
struct Timing {
  std::vector<double> numbers;
  double spread = 0;  ///< by how much a typical sample was above the least, relative to it
  std::string at{};   ///< UTC, ISO 8601; empty: not known, as of earlier versions
  bool keeps = true;  ///< false: counts only in the sweep that measured it, because something disturbed it

  bool operator==(const Timing&) const = default;
};

/// Measured numbers by key, kept in a text file between runs. The file may be deleted at any time. Damaged lines are
/// ignored. Several processes may use the file at once; one thread at a time may use an object.
///
/// A line is KEY TAB NUMBER ..., and TAB at=UTC spread=SHARE [keeps=no] behind it, which earlier versions did not
/// write. Words there that this version does not know are ignored.
class TimingCache {
 public:
  /// Reads the file if it exists. An empty path keeps nothing. So does, with a warning, what is no file that can be
  /// read.
  explicit TimingCache(std::filesystem::path file);

  std::optional<Timing> timing(const std::string& key) const;
  std::optional<std::vector<double>> find(const std::string& key) const;  ///< its numbers

  int64_t damaged() const { return damaged_; }  ///< number of ignored lines in the file; a warning was printed

  /// Keeps the numbers in memory and appends them to the file as one line. If the file cannot be written, it prints a
  /// warning once and goes on. REQUIRES: no tab or line break in `key`, every number finite.
  void add(const std::string& key, Timing timing);
  void add(const std::string& key, const std::vector<double>& numbers) { add(key, Timing{.numbers = numbers}); }

 private:
  std::filesystem::path file_;
  std::map<std::string, Timing> timings_;
  int64_t damaged_ = 0;
};

}  // namespace tandem

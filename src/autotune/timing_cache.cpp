#include "autotune/timing_cache.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/log.h"
#include "base/text.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

std::optional<std::vector<double>> numbersIn(const std::string& text) {
  std::istringstream in(text);
  std::vector<double> numbers;
  for (double number = 0; in >> number;) numbers.push_back(number);
  const bool whole = in.eof() && !numbers.empty();
  return whole ? std::optional(numbers) : std::nullopt;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

fs::path cacheFolder() {
  if (const auto own = variable("TANDEM_CACHE"); !own.empty()) return own;
  if (const auto caches = variable("XDG_CACHE_HOME"); !caches.empty()) return fs::path(caches) / "tandem";
  if (const auto home = variable("HOME"); !home.empty()) return fs::path(home) / ".cache" / "tandem";
  return {};
}

fs::path timingCacheFile() {
  const fs::path folder = cacheFolder();
  return folder.empty() ? folder : folder / "measured.tsv";
}

TimingCache::TimingCache(fs::path file) : file_(std::move(file)) {
  std::ifstream in(file_);
  for (std::string line; std::getline(in, line);) {
    const size_t tab = line.find('\t');
    const bool whole = tab != std::string::npos && !in.eof();  // a line without its end was cut off
    const auto numbers = whole ? numbersIn(line.substr(tab + 1)) : std::nullopt;
    if (numbers) numbers_[line.substr(0, tab)] = *numbers;
    damaged_ += numbers ? 0 : 1;
  }
  if (damaged_ == 0) return;
  logWarning(concat(file_.string(), ": ", damaged_, " damaged lines do not count; the file may be deleted"));
}

std::optional<std::vector<double>> TimingCache::find(const std::string& key) const {
  const auto found = numbers_.find(key);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

void TimingCache::add(const std::string& key, const std::vector<double>& numbers) {
  numbers_[key] = numbers;
  if (file_.empty()) return;
  std::ostringstream line;
  line << key << '\t';
  for (const double number : numbers) line << ' ' << number;
  line << '\n';
  std::error_code ignored;
  fs::create_directories(file_.parent_path(), ignored);
  std::ofstream out(file_, std::ios::app);
  out << line.str() << std::flush;  // one write, so that lines of several processes do not mix
  if (!out) logWarning(concat(file_.string(), " cannot be written: measurements are not kept for the next run"));
}

}  // namespace tandem

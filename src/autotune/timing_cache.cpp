#include "autotune/timing_cache.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

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

constexpr std::string_view atWord = "at=", spreadWord = "spread=", doesNotKeep = "keeps=no";

void readDetails(const std::string& text, Timing& timing) {
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    if (word.starts_with(atWord)) timing.at = word.substr(atWord.size());
    if (word.starts_with(spreadWord)) std::istringstream(word.substr(spreadWord.size())) >> timing.spread;
    if (word == doesNotKeep) timing.keeps = false;
  }
}

/// What follows the key in a line.
std::optional<Timing> timingIn(const std::string& text) {
  const size_t tab = std::min(text.find('\t'), text.size());
  const auto numbers = numbersIn(text.substr(0, tab));
  if (!numbers) return {};
  Timing timing{.numbers = *numbers};
  readDetails(text.substr(tab), timing);
  return timing;
}

std::string lineOf(const std::string& key, const Timing& timing) {
  std::ostringstream line;
  line << key << '\t';
  for (const double number : timing.numbers) line << ' ' << number;
  if (!timing.at.empty()) line << '\t' << atWord << timing.at << ' ' << spreadWord << timing.spread;
  if (!timing.keeps) line << (timing.at.empty() ? '\t' : ' ') << doesNotKeep;
  line << '\n';
  return line.str();
}

/// Why the file is of no use; empty if it can be read, or is not there yet. Opening a FIFO would wait for its writer.
std::string refusalOf(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (file.empty() || status.type() == fs::file_type::not_found) return "";
  if (status.type() == fs::file_type::none) return error.message();
  if (!fs::is_regular_file(status)) return "it is no regular file";
  return std::ifstream(file) ? "" : std::strerror(errno);
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
  const std::string refusal = refusalOf(file_);
  if (!refusal.empty()) {
    logWarning(concat(file_.string(), ": ", refusal, ": measurements are not kept for the next run; remove it"));
    file_.clear();
  }
  std::ifstream in(file_);
  for (std::string line; std::getline(in, line);) {
    const size_t tab = line.find('\t');
    const bool whole = tab != std::string::npos && !in.eof();  // a line without its end was cut off
    const auto timing = whole ? timingIn(line.substr(tab + 1)) : std::nullopt;
    if (timing) timings_[line.substr(0, tab)] = *timing;
    damaged_ += timing ? 0 : 1;
  }
  if (damaged_ == 0) return;
  logWarning(concat(file_.string(), ": ", damaged_, " damaged lines do not count; the file may be deleted"));
}

std::optional<Timing> TimingCache::timing(const std::string& key) const {
  const auto found = timings_.find(key);
  return found == timings_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::vector<double>> TimingCache::find(const std::string& key) const {
  const auto found = timing(key);
  return found ? std::optional(found->numbers) : std::nullopt;
}

void TimingCache::add(const std::string& key, Timing timing) {
  const std::string line = lineOf(key, timing);
  timings_[key] = std::move(timing);
  if (file_.empty()) return;
  std::error_code ignored;
  fs::create_directories(file_.parent_path(), ignored);
  std::ofstream out(file_, std::ios::app);
  out << line << std::flush;  // one write, so that lines of several processes do not mix
  if (out) return;
  logWarning(concat(file_.string(), " cannot be written: measurements are not kept for the next run"));
  file_.clear();
}

}  // namespace tandem

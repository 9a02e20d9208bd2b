#include "machine/cpu/rapl_meter.h"

#include <algorithm>
#include <filesystem>

#include "machine/cpu/host_facts.h"

namespace tandem {
namespace {

std::optional<int64_t> numberIn(const std::string& file) { return wholeNumber(textOf(file)); }

/// "intel-rapl:0" is a package. "intel-rapl:0:1" is a part of it, which the package's counter includes. AMD's
/// processors use the same names.
bool isPackage(const std::string& name) {
  return name.starts_with("intel-rapl:") && std::ranges::count(name, ':') == 1;
}

}  // namespace

RaplMeter::RaplMeter(const std::string& root) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/sys/class/powercap", ignored)) {
    if (!isPackage(entry.path().filename())) continue;
    const auto range = numberIn(entry.path() / "max_energy_range_uj");
    const auto energy = numberIn(entry.path() / "energy_uj");
    if (!range || !energy) {
      packages_.clear();
      return;
    }
    packages_.push_back({entry.path() / "energy_uj", *range, *energy});
  }
  readable_ = !packages_.empty();
}

std::optional<double> RaplMeter::joules() {
  for (Package& package : packages_) {
    const auto energy = numberIn(package.file);
    readable_ = readable_ && energy;
    if (!readable_) return {};
    taken_ += *energy - package.last + (*energy < package.last ? package.range : 0);
    package.last = *energy;
  }
  if (!readable_) return {};
  return static_cast<double>(taken_) / 1e6;
}

}  // namespace tandem

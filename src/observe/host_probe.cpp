#include "observe/host_probe.h"

#include <unistd.h>

#include <limits>
#include <numeric>

#include "base/clock.h"
#include "base/text.h"
#include "machine/cpu/host_facts.h"
#include "machine/cpu/rapl_meter.h"
#include "machine/cpu/system_counters.h"

namespace tandem {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double mebibyte = 1024.0 * 1024.0;

/// Use in percent of the time since the previous reading. The first reading is unknown.
class Use {
 public:
  double read(std::optional<Nanos> busy, Nanos time) {
    const double percent =
        busy && before_ && time > beforeTime_ ? 100 * seconds(*busy - *before_) / seconds(time - beforeTime_) : unknown;
    before_ = busy;
    beforeTime_ = time;
    return percent;
  }

 private:
  std::optional<Nanos> before_;
  Nanos beforeTime_{};
};

class HostProbe final : public Probe {
 public:
  HostProbe(std::vector<int> cpus, std::vector<int> processes, const std::string& root)
      : root_(root),
        cpus_(std::move(cpus)),
        processes_(std::move(processes)),
        useOf_(cpus_.size()),
        meter_(root),
        metered_(meter_.joules().has_value()) {}

  std::vector<Quantity> quantities() const override {
    std::vector<Quantity> found;
    for (const int cpu : cpus_) found.push_back({concat("cpu ", cpu), "use", "%"});
    found.push_back({"host", "memory", "MiB"});
    if (metered_) found.push_back({"host", "power", "W"});
    return found;
  }

  void read(std::span<double> values) override {
    const Nanos time = now();
    const auto times = cpuTimes(textOf(root_ + "/proc/stat"), cpus_);
    for (size_t i = 0; i < cpus_.size(); ++i) {
      values[i] = useOf_[i].read(times ? std::optional((*times)[i].busy) : std::nullopt, time);
    }
    values[cpus_.size()] = residentMebibytes();
    if (metered_) values[cpus_.size() + 1] = power(time);
  }

  std::optional<double> joules() override { return meter_.joules(); }

 private:
  /// The second number of statm is pages.
  double residentMebibytes() const {
    int64_t sum = 0;
    for (const int process : processes_) {
      const auto words = split(textOf(concat(root_, "/proc/", process, "/statm")), " ");
      const auto pages = words.size() > 1 ? wholeNumber(words[1]) : std::nullopt;
      if (!pages) return unknown;
      sum += *pages;
    }
    return static_cast<double>(sum * sysconf(_SC_PAGESIZE)) / mebibyte;
  }

  double power(Nanos time) {
    const double taken = meter_.joules().value_or(unknown);
    const double watts = (taken - joulesBefore_) / seconds(time - powerRead_);
    joulesBefore_ = taken;
    powerRead_ = time;
    return watts;
  }

  std::string root_;
  std::vector<int> cpus_, processes_;
  std::vector<Use> useOf_;
  RaplMeter meter_;
  bool metered_;
  double joulesBefore_ = unknown;
  Nanos powerRead_{};
};

}  // namespace

std::unique_ptr<Probe> hostProbe(std::vector<int> cpus, std::vector<int> processes, const std::string& root) {
  return std::make_unique<HostProbe>(std::move(cpus), std::move(processes), root);
}

}  // namespace tandem

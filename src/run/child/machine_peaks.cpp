#include "run/child/machine_peaks.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/catalog.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "kernels/peak/peaks.h"
#include "machine/cpu/host_facts.h"
#include "machine/process/child_output.h"
#include "machine/process/child_process.h"
#include "machine/process/utc_time.h"
#include "run/child/point_runner.h"

namespace tandem {
namespace {

constexpr double patienceSeconds = 30, endGraceSeconds = 5;
constexpr double leastShare = 0.85;        // of its cores' time that a valid measurement must have had
constexpr double largestDifference = 0.1;  // of the two highest measurements of a peak, relative to the highest
constexpr int mostRounds = 4;              // each measures a peak once
constexpr std::string_view copied = "copy";

struct PeakRow {
  std::string_view name;  ///< `copied`, or a row of precisions()
  Peak (*measure)(int threads);
};

constexpr std::array peakRows{PeakRow{copied, copyPeak}, PeakRow{"fp32", fp32Peak}, PeakRow{"bf16", bf16Peak}};

std::set<int> coresOf(const RunPlan& plan) {
  std::set<int> all;
  for (const auto& threads : plan.hostCores.threadsOf) all.insert(threads.begin(), threads.end());
  return all;
}

/// Reads until the child closes its end or patience ends. The child may hang, so reads never block.
std::string answerOf(const ChildProcess& child) {
  std::string answer;
  char buffer[64];
  pollfd waited{.fd = child.output(), .events = POLLIN, .revents = 0};
  for (const Nanos begin = now(); seconds(now() - begin) < patienceSeconds && !PointRunner::stopRequested();) {
    if (poll(&waited, 1, 100) <= 0) continue;
    const ssize_t count = read(child.output(), buffer, sizeof buffer);
    if (count <= 0) break;
    answer.append(buffer, static_cast<size_t>(count));
  }
  return answer;
}

/// The rate of an answer "RATE SHARE". Throws std::runtime_error with the reason if the child failed or other programs
/// used its cores.
double rateIn(const std::string& answer, int status) {
  std::istringstream in(answer);
  double rate = 0, share = 0;
  in >> rate >> share;
  if (status != 0 || !in || in.get() != '\n') throw std::runtime_error("its process failed");
  if (rate > 0 && share < leastShare) {
    throw std::runtime_error(concat("other programs had ", fixed(100 * (1 - share), 0), " % of the cores"));
  }
  return rate;
}

/// Of bytes and of FLOPs per second; 0: this processor has none. A cache may hold anything.
bool isPlausible(double rate) { return rate == 0 || (rate >= 1e6 && rate <= 1e18); }

Nanos cpuTime() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

int wholeNumberOf(const std::string& text) {
  const auto value = wholeNumber(text);
  if (!value || *value < 0 || *value > 1'000'000) throw UsageError(concat("peaks: '", text, "' is no hardware thread"));
  return static_cast<int>(*value);
}

/// Waits, but not after a request to stop.
void pauseFor(double time) {
  constexpr Nanos look = std::chrono::milliseconds(50);
  for (const Nanos begin = now(); seconds(now() - begin) < time && !PointRunner::stopRequested();) {
    std::this_thread::sleep_for(look);
  }
}

std::string keyOf(const RunPlan& plan, const std::string& peak) {
  return concat("peak | ", cpuKind(cpuInfo()), ", ", coresOf(plan).size(), " x ", plan.hostCores.unit, " | ", peak);
}

}  // namespace

struct MachinePeaks::Series {
  std::string peak, key;
  std::vector<std::string> arguments;  // of the child
  std::vector<double> rates = {};      // highest first
  std::string failure = {};
};

MachinePeaks::MachinePeaks(std::string executable, bool anew, double pause)
    : executable_(std::move(executable)), cache_(timingCacheFile()), anew_(anew), pause_(pause) {}

PeakRates MachinePeaks::of(const RunPlan& plan) {
  if (!plan.cudaDevices.empty() || coresOf(plan).empty()) return {};
  const std::string& precision = plan.config.numerics.precision;
  const bool known = std::ranges::find(peakRows, precision, &PeakRow::name) != peakRows.end();
  std::vector<std::string> wanted{std::string(copied)};
  if (known) wanted.insert(wanted.begin(), precision);
  find(wanted, plan);
  return {known ? own_[keyOf(plan, precision)] : 0, own_[keyOf(plan, wanted.back())]};
}

void MachinePeaks::find(const std::vector<std::string>& peaks, const RunPlan& plan) {
  std::vector<Series> open;
  for (const std::string& peak : peaks) {
    Series series{peak, keyOf(plan, peak), {"peaks", peak}};
    if (own_.contains(series.key)) continue;
    const auto known = cache_.timing(series.key);
    if (known && known->numbers.size() == 1 && isPlausible(known->numbers.front()) && !known->at.empty() && !anew_) {
      own_[series.key] = known->numbers.front();
      continue;
    }
    for (const int thread : coresOf(plan)) series.arguments.push_back(concat(thread));
    open.push_back(std::move(series));
  }
  for (int round = 0; round < mostRounds && !open.empty() && !PointRunner::stopRequested(); ++round) {
    if (round > 0) pauseFor(pause_);
    for (Series& series : open) measure(series);
    std::erase_if(open, [this](const Series& series) { return settle(series); });
  }
  for (const Series& series : open) {
    giveUp(series, concat("of ", series.rates.size(), " measurements no two of the highest agree to a tenth"));
  }
}

void MachinePeaks::measure(Series& series) {
  try {
    ChildProcess child(
        {.executable = executable_, .arguments = series.arguments, .environment = workerEnvironment(), .input = ""});
    const std::string answer = answerOf(child);
    if (PointRunner::stopRequested()) child.kill();
    series.rates.push_back(rateIn(answer, child.wait(endGraceSeconds)));
    std::ranges::sort(series.rates, std::greater());
  } catch (const std::runtime_error& failure) {
    series.failure = failure.what();
  }
}

bool MachinePeaks::settle(const Series& series) {
  if (!series.failure.empty()) {
    giveUp(series, series.failure);
    return true;
  }
  if (series.rates.size() < 2 || series.rates[1] < (1 - largestDifference) * series.rates[0]) return false;
  own_[series.key] = series.rates[0];
  const double spread = series.rates[0] > 0 ? 1 - series.rates[1] / series.rates[0] : 0;
  cache_.add(series.key, {.numbers = {series.rates[0]}, .spread = spread, .at = exactUtcTime()});
  return true;
}

void MachinePeaks::giveUp(const Series& series, const std::string& reason) {
  own_[series.key] = 0;
  if (PointRunner::stopRequested()) return;
  logWarning(
      concat("the peak of this machine (", series.peak, ") is unknown, the next run measures it again: ", reason));
}

int runPeaks(std::span<const std::string> arguments) {
  if (arguments.size() < 2) throw UsageError("peaks is started by 'tandem bench', not by hand; use 'tandem bench'");
  const PeakRow& row = find(std::span<const PeakRow>(peakRows), arguments.front(), "peak");
  std::vector<int> threads;
  for (const std::string& text : arguments.subspan(1)) threads.push_back(wholeNumberOf(text));
  pinThread(threads);
  const Nanos begin = now(), cpuBegin = cpuTime();
  const double rate = row.measure(static_cast<int>(threads.size())).perSecond;
  const double share = seconds(cpuTime() - cpuBegin) / (seconds(now() - begin) * static_cast<double>(threads.size()));
  const std::string answer = concat(rate, ' ', share, '\n');
  const bool told = write(childOutput, answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
  return static_cast<int>(told ? ExitCode::ok : ExitCode::internal);
}

}  // namespace tandem

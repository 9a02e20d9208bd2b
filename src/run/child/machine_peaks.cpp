#include "run/child/machine_peaks.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <set>
#include <sstream>
#include <stdexcept>

#include "base/catalog.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "kernels/peak/peaks.h"
#include "machine/cpu/host_facts.h"
#include "machine/process/child_process.h"
#include "run/child/worker_protocol.h"

namespace tandem {
namespace {

constexpr double patienceSeconds = 30, endGraceSeconds = 5;
constexpr double leastShare = 0.85;  // of its cores' time that a valid measurement must have had
constexpr std::string_view copied = "copy";

struct PeakRow {
  std::string_view name;  ///< `copied`, or a row of precisions()
  Peak (*measure)(int threads);
};

constexpr std::array peakRows{PeakRow{copied, copyPeak}, PeakRow{"fp32", fp32Peak}, PeakRow{"bf16", bf16Peak}};

std::set<int> threadsOf(const RunPlan& plan) {
  std::set<int> all;
  for (const auto& threads : plan.cores.threadsOf) all.insert(threads.begin(), threads.end());
  return all;
}

/// Reads until the child closes its end or patience ends. The child may hang, so reads never block.
std::string answerOf(const ChildProcess& child) {
  std::string answer;
  char buffer[64];
  pollfd waited{.fd = child.output(), .events = POLLIN, .revents = 0};
  for (const Nanos begin = now(); seconds(now() - begin) < patienceSeconds;) {
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

}  // namespace

MachinePeaks::MachinePeaks(std::string executable, bool anew)
    : executable_(std::move(executable)), cache_(timingCacheFile()), anew_(anew) {}

PeakRates MachinePeaks::of(const RunPlan& plan) {
  if (!plan.cudaDevices.empty() || threadsOf(plan).empty()) return {};
  const std::string& precision = plan.config.numerics.precision;
  const bool known = std::ranges::find(peakRows, precision, &PeakRow::name) != peakRows.end();
  return {known ? measured(precision, plan) : 0, measured(std::string(copied), plan)};
}

double MachinePeaks::measured(const std::string& what, const RunPlan& plan) {
  const auto threads = threadsOf(plan);
  const std::string key =
      concat("peak | ", cpuKind(textOf("/proc/cpuinfo")), ", ", threads.size(), " x ", plan.cores.unit, " | ", what);
  if (const auto own = own_.find(key); own != own_.end()) return own->second;
  const auto known = cache_.find(key);
  if (known && known->size() == 1 && !anew_) return known->front();
  std::vector<std::string> arguments{"peaks", what};
  for (const int thread : threads) arguments.push_back(concat(thread));
  try {
    ChildProcess child(
        {.executable = executable_, .arguments = arguments, .environment = workerEnvironment(), .input = ""});
    const std::string answer = answerOf(child);
    own_[key] = rateIn(answer, child.wait(endGraceSeconds));
    cache_.add(key, {own_[key]});
  } catch (const std::runtime_error& failure) {
    own_[key] = 0;
    logWarning(
        concat("the peak of this machine (", what, ") is unknown, the next run measures it again: ", failure.what()));
  }
  return own_[key];
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
  const bool told = write(workerOutput, answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
  return static_cast<int>(told ? ExitCode::ok : ExitCode::internal);
}

}  // namespace tandem

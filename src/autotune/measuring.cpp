#include "autotune/measuring.h"

#include "base/statistics.h"

namespace tandem {
namespace {

constexpr double shareOfSaving = 0.1;  // that a choice may take
constexpr double postponedMark = -2;   // in the cache, for the other points of the sweep; no time is negative

bool isMark(const Timing& timing) { return timing.numbers == std::vector{postponedMark}; }

/// One call of measureJobs().
class Measuring {
 public:
  using StepOf = std::function<StepSeconds(const Timings&)>;

  Measuring(MeasuringTime& time, TimingCache& cache, const StepOf& stepOf)
      : time_(time), rule_(time.rule()), cache_(cache), stepOf_(stepOf) {}

  Measured run(std::span<const MeasuringJob> jobs) {
    measured_.jobs = std::ssize(jobs);
    for (const MeasuringJob& job : jobs) {
      const std::vector<Timing> known = cached(job, /*any=*/false);
      if (!known.empty() && isMark(known.front())) {
        ++measured_.postponed;
      } else if (fits(job, known)) {
        take(job, known);
      } else {
        open_.push_back(&job);
      }
    }
    const auto isNew = [this](const MeasuringJob* job) { return !fits(*job, cached(*job, /*any=*/true)); };
    std::stable_partition(open_.begin(), open_.end(), isNew);  // the others have older timings if time does not suffice
    const size_t done = measure(open_.size());
    measured_.now = static_cast<int64_t>(done);
    measureAgainIfDisturbed(done);
    for (const MeasuringJob* job : std::span(open_).first(done)) keep(*job, measured_.disturbances.empty());
    for (const MeasuringJob* job : std::span(open_).subspan(done)) postpone(*job);
    return std::move(measured_);
  }

 private:
  /// The timings of a job in the cache: those that count, or any. Empty if one lacks.
  std::vector<Timing> cached(const MeasuringJob& job, bool any) const {
    std::vector<Timing> all;
    for (const std::string& key : job.keys) {
      const auto timing = cache_.timing(key);
      if (!timing || !(any || rule_.counts(*timing))) return {};
      all.push_back(*timing);
    }
    return all;
  }

  /// Whether these are timings of the job.
  static bool fits(const MeasuringJob& job, const std::vector<Timing>& timings) {
    if (timings.size() != job.keys.size()) return false;
    for (size_t i = 0; i < timings.size(); ++i) {
      const std::vector<double>& numbers = timings[i].numbers;
      if (numbers.size() != job.numbers || !job.isPlausible(i, numbers)) return false;
    }
    return true;
  }

  void take(const MeasuringJob& job, const std::vector<Timing>& timings) {
    for (size_t i = 0; i < timings.size(); ++i) measured_.timings[job.keys[i]] = timings[i];
  }

  /// Measures the first `count` open jobs until time is over. Returns how many.
  size_t measure(size_t count) {
    const int64_t known = measured_.jobs - std::ssize(open_);
    for (size_t i = 0; i < count; ++i) {
      if (time_.isOver([&] { return stepOf_(measured_.timings); })) return i;
      if (rule_.progress) rule_.progress(known + static_cast<int64_t>(i), measured_.jobs);
      take(*open_[i], time_.measure(open_[i]->timings));
    }
    return count;
  }

  /// If time ends meanwhile, the first disturbances stand.
  void measureAgainIfDisturbed(size_t done) {
    if (done == 0 || !rule_.disturbances) return;
    measured_.disturbances = rule_.disturbances();
    if (measured_.disturbances.empty() || measure(done) < done) return;
    measured_.disturbances = rule_.disturbances();
  }

  void keep(const MeasuringJob& job, bool keeps) {
    for (const std::string& key : job.keys) {
      Timing& timing = measured_.timings.at(key);
      timing.at = rule_.at, timing.keeps = keeps;
      cache_.add(key, timing);
    }
  }

  void postpone(const MeasuringJob& job) {
    const std::vector<Timing> older = cached(job, /*any=*/true);
    if (fits(job, older)) {
      take(job, older);
      return keep(job, /*keeps=*/false);
    }
    ++measured_.postponed;
    for (const std::string& key : job.keys)
      cache_.add(key, {.numbers = {postponedMark}, .at = rule_.at, .keeps = false});
  }

  MeasuringTime& time_;
  const MeasuringRule& rule_;
  TimingCache& cache_;
  const StepOf& stepOf_;
  std::vector<const MeasuringJob*> open_;  // not known yet
  Measured measured_;
};

}  // namespace

bool isTime(double seconds) { return seconds >= 1e-9 && seconds <= 1e4; }
bool areTimes(const std::vector<double>& seconds) { return std::ranges::all_of(seconds, isTime); }

bool MeasuringRule::counts(const Timing& timing) const {
  const bool ofThisSweep = !timing.at.empty() && timing.at >= since;
  return ofThisSweep || (timing.keeps && !anew);
}

bool MeasuringTime::isOver(const std::function<StepSeconds()>& soFar) const {
  const double needed = seconds(now() - begin_) + longest_;
  return needed >= rule_.freeSeconds && !(rule_.saves && needed < shareOfSaving * rule_.saves(soFar()));
}

double Measured::spread() const {
  std::vector<double> spreads;
  for (const auto& [key, timing] : timings) spreads.push_back(timing.spread);
  return median(spreads).value_or(0);
}

std::string Measured::oldest() const {
  const auto older = [](const auto& a, const auto& b) { return a.second.at < b.second.at; };
  const auto first = std::min_element(timings.begin(), timings.end(), older);
  return first == timings.end() ? "" : first->second.at;
}

Measured measureJobs(std::span<const MeasuringJob> jobs, MeasuringTime& time, TimingCache& cache,
                     const std::function<StepSeconds(const Timings&)>& stepOf) {
  return Measuring(time, cache, stepOf).run(jobs);
}

}  // namespace tandem

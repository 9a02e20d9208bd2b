#include "report/export/calendar_times.h"

#include <algorithm>
#include <ctime>

#include "base/text.h"
#include "measure/metrics/step_times.h"

namespace tandem {
namespace {

double secondsOf(const std::string& utc) {
  std::tm parts{};
  const char* const end = strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') throw DataError(concat("a record's time is '", utc, "', expected UTC, ISO 8601"));
  return static_cast<double>(timegm(&parts));
}

}  // namespace

double calendarTime(const RunTimes& times, const std::vector<CoursePart>& parts, Nanos at) {
  return times.firstStep + seconds(at - parts.front().begin);
}

RunTimes runTimes(const RunRecord& record) {
  RunTimes times;
  times.start = secondsOf(record.time);
  times.firstStep = times.start + seconds(record.startup);
  times.window = times.firstStep + seconds(record.warmup.wall);
  times.windowEnd = times.window + seconds(record.window);
  times.end = std::max(times.windowEnd, times.start + seconds(record.wall));
  const double warmupStep =
      seconds(record.warmup.wall) / static_cast<double>(std::max<int64_t>(1, record.warmup.steps));
  double at = times.firstStep;
  for (int64_t i = 0; i < record.warmup.steps; ++i) times.stepEnds.push_back(at += warmupStep);
  for (const double step : stepSeconds(record)) times.stepEnds.push_back(at += step);
  return times;
}

}  // namespace tandem

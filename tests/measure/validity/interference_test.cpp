#include "measure/validity/interference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "support/tests_folder.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Ten seconds of two CPUs that this process alone kept busy.
WindowCounters quietWindow() {
  WindowCounters window{.begin = {},
                        .end = {},
                        .cpus = 2,
                        .stopped = milliseconds(3),
                        .gpuSlowed = 0.0,
                        .gpuOthers = 0.0,
                        .gpuPrograms = 0.0};
  window.begin = {.steady = seconds(100),
                  .sinceBoot = seconds(200),
                  .wallClock = seconds(1'700'000'000),
                  .busy = seconds(50),
                  .stolen = seconds(1),
                  .own = seconds(30),
                  .queued = Nanos{},
                  .throttled = Nanos{},
                  .pressure = Nanos{},
                  .involuntary = 7,
                  .joules = 100.0};
  window.end = window.begin;
  for (auto* time : {&window.end.sinceBoot, &window.end.wallClock}) *time = **time + seconds(10);
  window.end.steady += seconds(10);
  for (auto* time : {&window.end.busy, &window.end.own}) *time = **time + seconds(20);
  return window;
}

struct Case {
  const char* sign;
  double value;
  void (*disturb)(WindowCounters&);
  const char* reason;
};

/// Each just above its limit.
const Case disturbances[] = {
    {"other_programs", 6, [](WindowCounters& w) { *w.end.busy += milliseconds(1200); },
     "other programs used the run's CPUs for 6.00 % (limit 5 %)"},
    {"stolen", 2.5, [](WindowCounters& w) { *w.end.stolen += milliseconds(500); },
     "the hypervisor gave the run's CPUs to others for 2.50 %"},
    {"throttled", 2, [](WindowCounters& w) { *w.end.throttled += milliseconds(200); },
     "the control group's CPU limit held the run for 2.00 %"},
    {"stopped", 20, [](WindowCounters& w) { w.stopped = seconds(2); }, "the process was stopped for 20.00 %"},
    {"clock_step", 0.495, [](WindowCounters& w) { *w.end.wallClock -= milliseconds(500); },
     "the wall clock was set by 0.49 s"},
    {"suspended", 3, [](WindowCounters& w) { *w.end.sinceBoot += seconds(3), *w.end.wallClock += seconds(3); },
     "the machine slept for 3.00 s"},
    {"gpu_slowed", 10, [](WindowCounters& w) { w.gpuSlowed = 0.1; },
     "a GPU was slowed by heat or its power supply for 10.00 %"},
    {"gpu_others", 71, [](WindowCounters& w) { w.gpuOthers = 0.71; },
     "just before the run other programs used a GPU of it for 71.00 % (limit 5 %)"},
};

TEST(Interference, AQuietWindowIsNotAccused) {
  const Interference found = findInterference(quietWindow());
  EXPECT_TRUE(found.reasons.empty()) << found.reasons.front();
  for (const auto& [sign, value] : found.signs) EXPECT_FALSE(std::isnan(value)) << sign;
}

TEST(Interference, EachDisturbanceIsNamedWithItsSize) {
  for (const Case& one : disturbances) {
    WindowCounters window = quietWindow();
    one.disturb(window);
    const Interference found = findInterference(window);
    EXPECT_NEAR(found.signs.at(one.sign), one.value, 1e-9) << one.sign;
    ASSERT_EQ(found.reasons.size(), 1U) << one.sign;
    EXPECT_EQ(found.reasons.front().rfind(one.reason, 0), 0U) << found.reasons.front();
  }
}

TEST(Interference, WhatMovesTheRateByMoreThanItsIntervalIsNotValid) {
  WindowCounters window = quietWindow();
  *window.end.busy += milliseconds(600);  // 3 % of the CPUs
  EXPECT_TRUE(findInterference(window).reasons.empty());
  EXPECT_TRUE(findInterference(window, 3).reasons.empty()) << "the interval is as wide";
  const auto narrow = findInterference(window, 0.3).reasons;
  ASSERT_EQ(narrow.size(), 1U);
  EXPECT_EQ(narrow.front(), "other programs used the run's CPUs for 3.00 % (limit 1.2 %)");
  window = quietWindow();
  *window.end.busy += milliseconds(230);
  EXPECT_TRUE(findInterference(window, 0.3).reasons.empty()) << "a quiet machine shows as much";
  *window.end.busy += milliseconds(1200);
  EXPECT_FALSE(findInterference(window, 50).reasons.empty()) << "no interval is wide enough for 7 %";
}

TEST(Interference, AStopIsJudgedByItsShareOfTheWindow) {
  WindowCounters window = quietWindow();  // 10 s
  window.stopped = milliseconds(300);
  EXPECT_TRUE(findInterference(window).reasons.empty());
  EXPECT_TRUE(findInterference(window, 4).reasons.empty());
  const auto narrow = findInterference(window, 2).reasons;
  ASSERT_EQ(narrow.size(), 1U);
  EXPECT_EQ(narrow.front(), "the process was stopped for 3.00 % (limit 2 %)");
  window.stopped = milliseconds(90);
  EXPECT_TRUE(findInterference(window, 0.1).reasons.empty()) << "no interval is so narrow that 0.9 % counts";
}

TEST(Interference, AStopInAShortWindowIsJudgedWithoutTicks) {
  WindowCounters window = quietWindow();
  window.end = window.begin;
  window.end.steady += milliseconds(750);
  window.stopped = milliseconds(30);
  EXPECT_TRUE(findInterference(window, 4).reasons.empty());
  EXPECT_EQ(findInterference(window, 3).reasons.size(), 1U) << "4 % is more than the interval";
  window.stopped = milliseconds(350);  // what is seen of a stop of 0.4 s
  EXPECT_EQ(findInterference(window, 50).reasons.size(), 1U);
  EXPECT_EQ(findInterference(window).reasons.size(), 1U) << "steps too few for an interval";
}

TEST(Interference, AShortWindowIsCheckedByPressureAlone) {
  Interference found;
  const Nanos shortest = seconds(1), below = milliseconds(999);
  EXPECT_FALSE(isUnchecked(found, shortest)) << "shares are known";
  EXPECT_TRUE(isUnchecked(found, below)) << "nothing is known";
  found.signs["cpu_pressure"] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(isUnchecked(found, below));
  found.signs["cpu_pressure"] = 3;
  EXPECT_FALSE(isUnchecked(found, below));
  found.signs["cpu_pressure"] = 60;
  EXPECT_TRUE(isUnchecked(found, below));
}

TEST(Interference, EverySignWithALimitHasACase) {
  for (const InterferenceSign& sign : interferenceSigns()) {
    const bool tried = std::ranges::any_of(disturbances, [&](const Case& one) { return one.sign == sign.name; });
    EXPECT_EQ(tried, std::isfinite(sign.limit)) << sign.name;
  }
}

TEST(Interference, WhatTheSystemDoesNotTellIsUnknown) {
  WindowCounters window = quietWindow();
  window.begin = SystemCounters();
  window.stopped.reset();
  window.gpuSlowed.reset();
  window.gpuOthers.reset();
  window.gpuPrograms.reset();
  const Interference found = findInterference(window);
  EXPECT_EQ(found.signs.size(), interferenceSigns().size());
  for (const auto& [sign, value] : found.signs) EXPECT_TRUE(std::isnan(value)) << sign;
  EXPECT_TRUE(found.reasons.empty());
}

TEST(Interference, SharesOfAShortWindowAreUnknown) {
  WindowCounters window = quietWindow();
  window.end.steady = window.begin.steady + milliseconds(900);
  *window.end.busy += seconds(1);
  EXPECT_TRUE(std::isnan(findInterference(window).signs.at("other_programs")));
}

TEST(Interference, SlewingAClockIsNoStep) {
  WindowCounters window = quietWindow();
  for (auto* time : {&window.end.sinceBoot, &window.end.wallClock}) *time = **time + seconds(990);
  window.end.steady += seconds(990);
  *window.end.wallClock += milliseconds(500);
  EXPECT_TRUE(findInterference(window).reasons.empty());
}

TEST(Interference, TheDocumentGivesEachSignWithItsUnit) {
  std::ifstream file(testsFolder() + "/../docs/METRICS.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const InterferenceSign& sign : interferenceSigns()) {
    std::ostringstream row;
    row << "| `" << sign.name << "` | " << sign.unit << " | ";
    if (sign.least < sign.limit) row << sign.least << " to ";
    if (std::isfinite(sign.limit)) row << sign.limit << " | ";
    EXPECT_NE(text.str().find(row.str()), std::string::npos) << "docs/METRICS.md lacks a row starting " << row.str();
  }
}

TEST(Interference, NamesTheBusiestOfTheOtherProgramsAndOfNothingElse) {
  WindowCounters window = quietWindow();
  window.busiest = "cc1plus (pid 123)";
  *window.end.busy += milliseconds(1200), *window.end.throttled += milliseconds(200);
  EXPECT_EQ(
      findInterference(window).reasons,
      (std::vector<std::string>{
          "other programs used the run's CPUs for 6.00 % (limit 5 %); the busiest on this machine: cc1plus (pid 123)",
          "the control group's CPU limit held the run for 2.00 % (limit 1 %)"}));
}

}  // namespace
}  // namespace tandem

#include "autotune/measuring.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/text.h"

namespace tandem {
namespace {

constexpr const char *before = "2026-11-24T10:00:00.000Z", *begin = "2026-11-24T11:00:00.000Z",
                     *later = "2026-11-24T11:00:01.000Z";

/// Jobs of two alternatives, whose times are counted up from measurement to measurement.
class MeasuringTest : public testing::Test {
 protected:
  MeasuringTest() : file_(std::filesystem::temp_directory_path() / concat("tandem-measuring-", getpid())) {
    rule_.at = later, rule_.since = begin;
  }
  ~MeasuringTest() override { std::filesystem::remove(file_); }

  MeasuringJob job(const std::string& name) {
    return {.keys = {name + " a", name + " b"}, .timings = [this, name] {
              asked_ += name;
              const double time = ++number_;
              return std::vector<Timing>{{.numbers = {time}, .spread = 0.1}, {.numbers = {2 * time}, .spread = 0.3}};
            }};
  }

  /// As one process of the sweep: it reads the cache anew.
  Measured measure(const std::vector<std::string>& names) {
    std::vector<MeasuringJob> jobs;
    for (const std::string& name : names) jobs.push_back(job(name));
    TimingCache cache(file_);
    MeasuringTime time(rule_);
    asked_.clear();
    return measureJobs(jobs, time, cache, [this](const Timings& soFar) {
      return StepSeconds{.byDefault = saving_ * static_cast<double>(soFar.size()), .chosen = 0};
    });
  }

  std::filesystem::path file_;
  MeasuringRule rule_;
  std::string asked_;
  int number_ = 0;
  double saving_ = 0;  // by each timing
};

// A cache may hold anything.
TEST_F(MeasuringTest, WhatCannotBeTrueIsMeasuredAnew) {
  for (const double kept : {-1.0, 0.0, 1e-12, 1e308}) {
    TimingCache(file_).add("x a", {.numbers = {kept}, .at = before});
    TimingCache(file_).add("x b", {.numbers = {2}, .at = before});
    const Measured measured = measure({"x"});
    EXPECT_EQ(asked_, "x") << kept;
    EXPECT_GE(measured.timings.at("x a").numbers.front(), 1) << kept;
  }
}

TEST_F(MeasuringTest, MeasuresWhatIsNotKnown) {
  const Measured first = measure({"x", "y"});
  EXPECT_EQ(asked_, "xy");
  EXPECT_EQ(first.now, 2);
  EXPECT_EQ(first.timings.at("y b"), (Timing{.numbers = {4}, .spread = 0.3, .at = later}));
  EXPECT_NEAR(first.spread(), 0.2, 1e-12);
  const Measured second = measure({"x", "z"});
  EXPECT_EQ(asked_, "z");
  EXPECT_EQ(second.jobs, 2);
  EXPECT_EQ(second.now, 1);
  EXPECT_EQ(second.timings.at("x a").numbers, std::vector{1.0});
  EXPECT_TRUE(measure({"x"}).fromCache());
}

TEST_F(MeasuringTest, AnotherNumberOfNumbersIsMeasuredAnew) {
  TimingCache(file_).add("x a", {1, 2});
  TimingCache(file_).add("x b", {1, 2});
  EXPECT_EQ(measure({"x"}).now, 1);
}

TEST_F(MeasuringTest, WhatWasDisturbedIsMeasuredOnceMore) {
  std::vector<std::vector<std::string>> answers{{"somebody compiled"}, {}};
  rule_.disturbances = [&answers] {
    auto answer = answers.front();
    answers.erase(answers.begin());
    return answer;
  };
  const Measured measured = measure({"x", "y"});
  EXPECT_EQ(asked_, "xyxy");
  EXPECT_EQ(measured.now, 2);
  EXPECT_TRUE(measured.disturbances.empty());
  EXPECT_EQ(measured.timings.at("x a").numbers, std::vector{3.0}) << "the second measurement counts";
  EXPECT_TRUE(measure({"x", "y"}).fromCache()) << "nobody is asked where nothing was measured";
}

TEST_F(MeasuringTest, WhatStaysDisturbedCountsInItsSweepOnly) {
  rule_.disturbances = [] { return std::vector<std::string>{"somebody compiled"}; };
  EXPECT_EQ(measure({"x"}).disturbances.size(), 1U);
  EXPECT_EQ(asked_, "xx");
  const Measured next = measure({"x"});
  EXPECT_TRUE(next.fromCache()) << "the points of a sweep choose alike";
  EXPECT_FALSE(next.timings.at("x a").keeps);
  rule_.since = "2026-11-24T12:00:00.000Z", rule_.at = "2026-11-24T12:00:01.000Z", rule_.disturbances = nullptr;
  EXPECT_FALSE(measure({"x"}).fromCache()) << "the next sweep measures it again";
  rule_.since = "2026-11-24T13:00:00.000Z";
  EXPECT_TRUE(measure({"x"}).fromCache());
}

TEST_F(MeasuringTest, WhatWasNeverMeasuredComesFirst) {
  rule_.disturbances = [] { return std::vector<std::string>{"somebody compiled"}; };
  measure({"x", "y"});
  rule_.since = "2026-11-24T12:00:00.000Z", rule_.disturbances = nullptr;
  measure({"x", "y", "z"});
  EXPECT_EQ(asked_, "zxy");
}

TEST_F(MeasuringTest, AnewIsOnceInASweep) {
  TimingCache(file_).add("x a", Timing{.numbers = {9}, .at = before});
  TimingCache(file_).add("x b", Timing{.numbers = {9}, .at = before});
  EXPECT_TRUE(measure({"x"}).fromCache());
  rule_.anew = true;
  EXPECT_EQ(measure({"x"}).now, 1);
  EXPECT_TRUE(measure({"x"}).fromCache());
}

TEST_F(MeasuringTest, WhenTimeIsOverTheRestIsPostponedForTheWholeSweep) {
  rule_.freeSeconds = 0;
  const Measured measured = measure({"x", "y"});
  EXPECT_EQ(asked_, "");
  EXPECT_EQ(measured.postponed, 2);
  EXPECT_TRUE(measured.timings.empty());
  rule_.freeSeconds = 1e9;
  EXPECT_EQ(measure({"x", "y"}).postponed, 2) << "another point of the sweep runs the same";
  rule_.since = "2026-11-24T12:00:00.000Z";
  EXPECT_EQ(measure({"x", "y"}).now, 2);
}

TEST_F(MeasuringTest, WhenTimeIsOverOlderTimesServe) {
  measure({"x"});
  rule_.since = "2026-11-24T12:00:00.000Z", rule_.at = "2026-11-24T12:00:01.000Z";
  rule_.anew = true, rule_.freeSeconds = 0;
  const Measured measured = measure({"x", "y"});
  EXPECT_EQ(measured.postponed, 1);
  EXPECT_EQ(measured.timings.at("x a").numbers, std::vector{1.0});
  EXPECT_FALSE(measured.timings.at("x a").keeps);
  EXPECT_EQ(measure({"x", "y"}).timings.count("x a"), 1U);
  EXPECT_EQ(asked_, "");
}

// Nothing is saved before the first job; the second may take a tenth of what the first one saves.
TEST_F(MeasuringTest, ATenthOfWhatItSavesMayBeSpent) {
  rule_.freeSeconds = 0;
  rule_.saves = [](const StepSeconds& step) { return step.byDefault - step.chosen; };
  saving_ = 1e9;
  EXPECT_EQ(measure({"x"}).postponed, 1);
  rule_.since = "2026-11-24T12:00:00.000Z", rule_.at = "2026-11-24T12:00:01.000Z";
  TimingCache(file_).add("known a", {1});
  TimingCache(file_).add("known b", {1});
  EXPECT_EQ(measure({"known", "x"}).now, 1);
  saving_ = 0;
  EXPECT_EQ(measure({"known", "y"}).postponed, 1);
}

TEST_F(MeasuringTest, SaysHowFarItIs) {
  measure({"x"});
  std::string said;
  rule_.progress = [&said](int64_t done, int64_t all) { said += concat(done, '/', all, ' '); };
  measure({"x", "y", "z"});
  EXPECT_EQ(said, "1/3 2/3 ");
}

TEST_F(MeasuringTest, TheOldestTimeIsTold) {
  TimingCache(file_).add("x a", Timing{.numbers = {9}, .at = before});
  TimingCache(file_).add("x b", Timing{.numbers = {9}, .at = later});
  EXPECT_EQ(measure({"x", "y"}).oldest(), before);
  EXPECT_EQ(Measured().oldest(), "");
}

}  // namespace
}  // namespace tandem

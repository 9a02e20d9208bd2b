#include "autotune/tuner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <thread>

#include "base/text.h"

namespace tandem {
namespace {

/// Stand-in candidates, whose times a table says.
class TunerTest : public testing::Test {
 protected:
  struct Way {
    std::string name;
    std::vector<double> seconds;  // of the calls in sample, the first one included; the last one's from then on
    std::optional<int64_t> workspace = 0;
    bool fails = false, isRight = true;
  };

  TunerTest() : file_(std::filesystem::temp_directory_path() / concat("tandem-tuner-", getpid())) {
    rule_.where = concat("some GPU, cuDNN 1.2.3");
    rule_.workspaceBytes = 8 << 20;
    rule_.secondsOf = [this](const std::function<void()>& call) {
      call();
      return last_;
    };
  }
  ~TunerTest() override { std::filesystem::remove(file_); }

  Tuned tuned(TimingCache& cache, const std::vector<Way>& ways, const std::string& operation = "one") {
    std::vector<TuningCandidate> candidates;
    for (const Way& way : ways) {
      const auto prepare = [&way] { return way.workspace; };
      const auto run = [this, &way] {
        if (way.fails) throw std::runtime_error("no memory");
        const auto call = static_cast<size_t>(calls_[way.name]++);
        last_ = way.seconds.at(std::min(call, way.seconds.size() - 1));
      };
      candidates.push_back({way.name, prepare, run, [&way] {
                              if (way.name == "incomparable") throw std::runtime_error("no memory");
                              return way.isRight;
                            }});
    }
    calls_.clear();
    Tuner tuner(rule_, cache);
    Tuned result = tuner.fastest(operation, candidates);
    fromCache_ = tuner.fromCache();
    return result;
  }
  std::string chosen(const std::vector<Way>& ways) {
    TimingCache nowhere{std::filesystem::path()};
    return ways.at(tuned(nowhere, ways).index).name;
  }

  TuningRule rule_;
  std::filesystem::path file_;
  std::map<std::string, int> calls_;
  double last_ = 0;
  bool fromCache_ = false;
};

TEST_F(TunerTest, TheFirstStaysUnlessAnotherIsMoreThanThreePercentFaster) {
  EXPECT_EQ(chosen({{"a", {1}}, {"b", {0.98}}, {"c", {2}}}), "a");
  EXPECT_EQ(chosen({{"a", {1}}, {"b", {0.9}}, {"c", {0.8}}}), "c");
  EXPECT_EQ(chosen({{"a", {1}}, {"b", {0.80}}, {"c", {0.79}}}), "c") << "the others are equals";
}

TEST_F(TunerTest, TheMarginIsTheRules) {
  rule_.margin = 1.01;
  EXPECT_EQ(chosen({{"a", {1}}, {"b", {0.98}}}), "b");
  EXPECT_EQ(chosen({{"a", {1}}, {"b", {0.995}}}), "a");
}

TEST_F(TunerTest, OnlyTheFirstThatCanRunAreTried) {
  rule_.mostCandidates = 3;
  EXPECT_EQ(
      chosen({{"a", {1}}, {"b", {0.9}, 9 << 20}, {"c", {0.9}, 0, true}, {"d", {0.8}}, {"e", {0.7}}, {"f", {0.1}}}),
      "e");
  EXPECT_EQ(calls_["f"], 0) << "a, d and e are three";
}

TEST_F(TunerTest, TheMedianCountsAndTheFirstCallDoesNot) {
  EXPECT_EQ(chosen({{"a", {9, 1}}, {"b", {0.1, 0.8, 1.2, 1.2, 1.2, 0.1}}}), "a");
  EXPECT_EQ(chosen({{"a", {9, 1}}, {"b", {9, 0.9, 5, 0.9, 5, 0.9}}}), "b");
}

TEST_F(TunerTest, CandidatesTakeTurnsAndHopelessOnesAreCalledTwice) {
  const std::vector<Way> ways{{"a", {1}}, {"b", {1.4}}, {"c", {1.6}}};
  chosen(ways);
  EXPECT_EQ(calls_["a"], 6) << "once to begin with, then five times";
  EXPECT_EQ(calls_["b"], 6);
  EXPECT_EQ(calls_["c"], 2);
}

TEST_F(TunerTest, WhatDoesNotServeLeavesItsPlaceToTheNext) {
  Way large{"large", {0.1}, 9 << 20}, refused{"refused", {0.1}, std::nullopt}, failing{"failing", {0.1}, 0, true};
  EXPECT_EQ(chosen({{"a", {1}}, large, refused, failing, {"b", {0.5}, 8 << 20}}), "b");
  EXPECT_EQ(chosen({{"a", {1}}, {"wrong", {0.1}, 0, false, false}, {"b", {0.5}}}), "b");
  EXPECT_EQ(chosen({{"a", {1}}, {"incomparable", {0.1}}, {"b", {0.5}}}), "b");
  EXPECT_EQ(chosen({failing, large, {"b", {3}}}), "b");
  EXPECT_EQ(chosen({failing, large}), "failing") << "where none serves the first one says why";
}

TEST_F(TunerTest, EnoughIsEnough) {
  rule_.leastSeconds = rule_.mostSeconds = 0;
  EXPECT_EQ(chosen({{"a", {2}}, {"b", {1}}}), "a");
  EXPECT_EQ(calls_["a"], 2);
  EXPECT_EQ(calls_.count("b"), 0U);
  Way refused{"refused", {0.1}, std::nullopt};
  EXPECT_EQ(chosen({refused, {"b", {1}}}), "b") << "one is always tried";
}

TEST_F(TunerTest, LongCallsMayBeTriedForLonger) {
  rule_.leastSeconds = 0, rule_.mostSeconds = 1e9;
  EXPECT_EQ(chosen({{"a", {1e-13}}, {"b", {1e-14}}}), "a") << "2,000 calls of a take less than one sample did";
  EXPECT_EQ(chosen({{"a", {2}}, {"b", {1}}}), "b");
  rule_.mostSeconds = 0;
  EXPECT_EQ(chosen({{"a", {2}}, {"b", {1}}}), "a");
}

TEST_F(TunerTest, PreparingAndCheckingDoNotCount) {
  rule_.leastSeconds = rule_.mostSeconds = 0.1;
  const auto slow = [](auto result) {
    return [=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(80));
      return result;
    };
  };
  std::vector<TuningCandidate> candidates;
  for (const double seconds : {3.0, 2.0, 1.0}) {
    candidates.push_back(
        {concat("of ", seconds), slow(std::optional<int64_t>(0)), [=, this] { last_ = seconds; }, slow(true)});
  }
  TimingCache nowhere{std::filesystem::path()};
  EXPECT_EQ(Tuner(rule_, nowhere).fastest("one", candidates).index, 2U) << "the last one had its turn";
}

TEST_F(TunerTest, TimesAreKeptFromRunToRun) {
  const std::vector<Way> ways{{"a", {1}}, {"b", {0.5}}, {"large", {0.1}, 9 << 20}};
  TimingCache first(file_);
  EXPECT_DOUBLE_EQ(tuned(first, ways).gain, 2);
  EXPECT_FALSE(fromCache_);
  TimingCache second(file_);
  const Tuned again = tuned(second, ways);
  EXPECT_TRUE(fromCache_);
  EXPECT_TRUE(calls_.empty());
  EXPECT_EQ(again.index, 1U);
  EXPECT_DOUBLE_EQ(again.gain, 2);
  EXPECT_LT(again.seconds.at(2), 0);
}

TEST_F(TunerTest, AnotherOperationMachineLimitOrCandidateIsMeasured) {
  const std::vector<Way> ways{{"a", {1}}, {"b", {0.5}}};
  TimingCache cache{std::filesystem::path()};
  tuned(cache, ways);
  tuned(cache, ways, "another");
  EXPECT_FALSE(fromCache_);
  tuned(cache, {{"a", {1}}, {"c", {0.5}}});
  EXPECT_FALSE(fromCache_);
  rule_.workspaceBytes *= 2;
  tuned(cache, ways);
  EXPECT_FALSE(fromCache_);
  rule_.workspaceBytes /= 2, rule_.where = concat("another GPU");
  tuned(cache, ways);
  EXPECT_FALSE(fromCache_);
  tuned(cache, ways);
  EXPECT_TRUE(fromCache_);
}

TEST_F(TunerTest, KeepsDateAndSpread) {
  rule_.measuring.at = "2026-11-24T10:00:00.000Z";
  TimingCache cache(file_);
  tuned(cache, {{"a", {9, 1, 1.5, 2, 1, 1.5}}});
  std::ifstream lines(file_);
  std::string line;
  std::getline(lines, line);
  EXPECT_TRUE(line.ends_with("\t 1.5\tat=2026-11-24T10:00:00.000Z spread=0.5")) << line;
}

TEST_F(TunerTest, AnewMeasuresWhatIsKnown) {
  const std::vector<Way> ways{{"a", {1}}, {"b", {0.5}}};
  TimingCache cache{std::filesystem::path()};
  tuned(cache, ways);
  rule_.measuring.anew = true;
  tuned(cache, ways);
  EXPECT_FALSE(fromCache_);
}

TEST_F(TunerTest, WhenTimeIsOverTheFirstRuns) {
  rule_.measuring.freeSeconds = 0, rule_.measuring.at = "2026-11-24T10:00:00.000Z";
  TimingCache cache{std::filesystem::path()};
  const Tuned result = tuned(cache, {{"a", {1}}, {"b", {0.5}}});
  EXPECT_EQ(result.index, 0U);
  EXPECT_EQ(result.gain, 1);
  EXPECT_TRUE(calls_.empty());
  rule_.measuring.freeSeconds = 1e9, rule_.measuring.since = "2026-11-24T11:00:00.000Z";
  EXPECT_EQ(tuned(cache, {{"a", {1}}, {"b", {0.5}}}).index, 1U) << "the next sweep measures it";
}

TEST_F(TunerTest, SaysHowManyOperationsAreDone) {
  std::string said;
  rule_.measuring.progress = [&said](int64_t done, int64_t all) { said += concat(done, '/', all, ' '); };
  TimingCache cache{std::filesystem::path()};
  Tuner tuner(rule_, cache);
  const TuningCandidate way{"a", [] { return std::optional<int64_t>(0); }, [this] { last_ = 1; }};
  for (const char* operation : {"one", "two", "one"}) tuner.fastest(operation, {&way, 1});
  EXPECT_EQ(said, "0/0 1/0 ");
  EXPECT_EQ(tuner.measured().jobs, 3);
  EXPECT_EQ(tuner.measured().now, 2);
}

TEST_F(TunerTest, ADamagedLineIsMeasuredAnew) {
  const std::vector<Way> ways{{"a", {1}}, {"b", {0.5}}};
  TimingCache first(file_);
  tuned(first, ways);
  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) - 1);  // the end of b's line
  TimingCache second(file_);
  EXPECT_EQ(second.damaged(), 1);
  EXPECT_EQ(tuned(second, ways).index, 1U);
  EXPECT_FALSE(fromCache_);
}

TEST_F(TunerTest, AKnownOneThatIsNoLongerReadyLeavesItsPlace) {
  TimingCache cache{std::filesystem::path()};
  tuned(cache, {{"a", {1}}, {"b", {0.5}}, {"c", {0.7}}});
  const Tuned later = tuned(cache, {{"a", {1}}, {"b", {0.5}, std::nullopt}, {"c", {0.7}}});
  EXPECT_TRUE(fromCache_);
  EXPECT_EQ(later.index, 2U);
}

}  // namespace
}  // namespace tandem

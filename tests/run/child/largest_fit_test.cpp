#include "run/child/largest_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "base/text.h"

namespace tandem {
namespace {

constexpr int64_t million = 1'000'000;

Outcome refused(const std::string& reason) {
  return {.kind = OutcomeKind::failed, .code = ExitCode::usage, .reason = reason, .outOfMemory = true};
}

/// Memory in which `threshold` images fit, and what was tried there.
struct Memory {
  int64_t threshold;
  std::vector<int64_t> tried = {};

  BatchTrial operator()(int64_t batch) {
    tried.push_back(batch);
    if (batch <= threshold) return {{}, batch * 100};
    return {refused(std::to_string(batch) + " are too many"), 0};
  }
};

int64_t grain(int64_t batch) {
  int64_t power = 1;
  while (power * 128 <= batch) power *= 2;
  return power;
}

TEST(SearchBatch, FindsTheLargestThatFitsWhateverTheGuess) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 3000; ++i) {
    const auto drawn = [&] {
      return 1 + static_cast<int64_t>(std::exp2(std::uniform_real_distribution(0.0, 19.9)(random)));
    };
    Memory memory{drawn()};
    const int64_t guess = drawn();
    const FoundBatch found = searchBatch({.guess = guess, .most = million, .unit = 1, .bound = ""}, std::ref(memory));
    ASSERT_EQ(found.outcome.kind, OutcomeKind::ok);
    ASSERT_LE(found.batch, memory.threshold);
    ASSERT_GT(found.batch + grain(found.batch), memory.threshold) << "of " << memory.threshold;
    ASSERT_EQ(found.batch % grain(found.batch), 0);
    ASSERT_EQ(found.search.peakBytes, found.batch * 100);
    ASSERT_GT(found.search.tooLarge, memory.threshold);
    ASSERT_LE(found.search.tooLarge, found.batch + grain(found.batch));
    ASSERT_EQ(found.search.stoppedBy, std::to_string(found.search.tooLarge) + " are too many");
    ASSERT_EQ(found.search.probes, static_cast<int64_t>(memory.tried.size()));
    const double wrongBy = std::abs(std::log2(static_cast<double>(guess) / static_cast<double>(memory.threshold)));
    ASSERT_LE(found.search.probes, 14 + std::ceil(wrongBy)) << memory.threshold << " from " << guess;
  }
}

TEST(SearchBatch, AGoodGuessCostsAFewProbes) {
  for (const int64_t threshold : {900, 990, 1000, 1050, 1120}) {
    Memory memory{threshold};
    searchBatch({.guess = 1000, .most = million, .unit = 1, .bound = ""}, std::ref(memory));
    EXPECT_LE(memory.tried.size(), 7u) << threshold;
  }
}

TEST(SearchBatch, NoBatchIsTriedTwiceOrBeyondTheBound) {
  for (int64_t threshold = 0; threshold <= 300; ++threshold) {
    Memory memory{threshold};
    searchBatch({.guess = 40, .most = 200, .unit = 1, .bound = ""}, std::ref(memory));
    std::vector<int64_t> sorted = memory.tried;
    std::ranges::sort(sorted);
    EXPECT_TRUE(std::ranges::adjacent_find(sorted) == sorted.end()) << threshold;
    EXPECT_TRUE(sorted.front() >= 1 && sorted.back() <= 200) << threshold;
  }
}

TEST(SearchBatch, WhereEverythingFitsItIsTheBound) {
  for (const int64_t most : {1, 2, 63, 64, 1000, 1001}) {
    for (const int64_t guess : {int64_t{1}, most / 2, most, 5 * most}) {
      Memory memory{million};
      const FoundBatch found =
          searchBatch({.guess = guess, .most = most, .unit = 1, .bound = "there are no more"}, std::ref(memory));
      EXPECT_EQ(found.batch, most);
      EXPECT_EQ(found.search.tooLarge, 0);
      EXPECT_EQ(found.search.stoppedBy, "there are no more");
    }
  }
}

TEST(SearchBatch, WhereNothingFitsItSaysSo) {
  for (const int64_t unit : {1, 3}) {
    Memory memory{0};
    const FoundBatch found = searchBatch({.guess = 600, .most = 999, .unit = unit, .bound = ""}, std::ref(memory));
    EXPECT_EQ(found.batch, 0);
    EXPECT_EQ(found.outcome.kind, OutcomeKind::failed);
    EXPECT_EQ(found.outcome.code, ExitCode::usage);
    EXPECT_TRUE(found.outcome.outOfMemory);
    EXPECT_EQ(memory.tried.back(), unit);
    EXPECT_EQ(found.search.tooLarge, unit);
    EXPECT_NE(found.outcome.reason.find(concat("not even a batch of ", unit, " fits: ", unit, " are too many")),
              std::string::npos)
        << found.outcome.reason;
  }
}

TEST(SearchBatch, BatchesAreCutIntoParts) {
  Memory memory{100};
  const FoundBatch found = searchBatch({.guess = 50, .most = 1000, .unit = 7, .bound = ""}, std::ref(memory));
  EXPECT_EQ(found.batch, 98);
  EXPECT_EQ(found.search.tooLarge, 105);
  for (const int64_t batch : memory.tried) EXPECT_EQ(batch % 7, 0);
}

TEST(SearchBatch, AnyOtherFailureEndsItAndIsItsOutcome) {
  for (const ExitCode code : {ExitCode::numeric, ExitCode::interrupted, ExitCode::internal, ExitCode::usage}) {
    int calls = 0;
    const FoundBatch found =
        searchBatch({.guess = 64, .most = million, .unit = 1, .bound = ""}, [&](int64_t batch) -> BatchTrial {
          if (++calls < 3) return {{}, batch};
          return {{OutcomeKind::failed, code, "the loss is nan"}, 0};
        });
    EXPECT_EQ(calls, 3) << "it is not taken for too large";
    EXPECT_EQ(found.outcome.code, code);
    EXPECT_FALSE(found.outcome.outOfMemory);
    EXPECT_EQ(found.outcome.reason, "--batch=max: the search ended at a batch of 88: the loss is nan");
    EXPECT_EQ(found.search.probes, 3);
  }
}

}  // namespace
}  // namespace tandem

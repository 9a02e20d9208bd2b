#include "autotune/interleaved_timing.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace tandem {
namespace {

using Numbers = std::vector<double>;
using Table = std::vector<std::vector<Numbers>>;  // by way and sample

/// Ways whose numbers a table says, by sample.
struct Ways {
  explicit Ways(Table given) : numbers(std::move(given)) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      all.push_back({.sample = [this, i, sample = size_t{0}]() mutable {
        order += static_cast<char>('a' + i);
        return numbers[i].at(sample++);
      }});
    }
  }

  Table numbers;
  std::vector<Candidate> all = {};
  std::string order = {};  // in which they had their samples
};

TEST(Turns, AreTakenRoundByRound) {
  Ways ways(Table{{{3}, {1}, {2}}, {{5}, {6}, {10}}});
  timeInterleaved(ways.all, {.most = 3});
  EXPECT_EQ(ways.order, "ababab");
  EXPECT_EQ(ways.all[0].least(), Numbers{1});
  EXPECT_EQ(ways.all[0].medians(), Numbers{2});
  EXPECT_EQ(ways.all[1].least(), Numbers{5});
  EXPECT_EQ(ways.all[1].medians(), Numbers{6});
}

TEST(Turns, EachNumberOfATurnIsItsOwn) {
  Ways ways(Table{{{3, 10}, {1, 30}, {2, 20}}});
  timeInterleaved(ways.all, {.most = 3});
  EXPECT_EQ(ways.all[0].least(), (Numbers{1, 10}));
  EXPECT_EQ(ways.all[0].medians(), (Numbers{2, 20}));
}

TEST(Turns, SpreadIsOfTheSumsOfSamples) {
  Ways ways(Table{{{3, 10}, {1, 30}, {2, 20}}, {{5}, {5}, {5}}});
  EXPECT_EQ(ways.all[0].spread(), 0) << "without a sample";
  timeInterleaved(ways.all, {.most = 3});
  EXPECT_DOUBLE_EQ(ways.all[0].spread(), 22.0 / 13 - 1);
  EXPECT_EQ(ways.all[1].spread(), 0);
}

TEST(Turns, OneThatDoesNotServeIsOutAndWhatItGaveDoesNotCount) {
  Ways ways(Table{{{3}, {}}, {{5}, {6}, {7}}});
  timeInterleaved(ways.all, {.most = 3});
  EXPECT_EQ(ways.order, "ababb");
  EXPECT_TRUE(ways.all[0].eliminated);
  EXPECT_TRUE(ways.all[0].least().empty());
  EXPECT_TRUE(ways.all[0].medians().empty());
  EXPECT_EQ(ways.all[1].medians(), Numbers{6});
}

TEST(Turns, OneThatWasSentOutKeepsWhatItGave) {
  Ways ways(Table{{{3}}, {{5}, {6}}});
  timeInterleaved(ways.all, {.most = 1});
  ways.all[0].eliminated = true;
  timeInterleaved(ways.all, {.most = 1});
  EXPECT_EQ(ways.order, "abb");
  EXPECT_EQ(ways.all[0].least(), Numbers{3});
}

TEST(Turns, NoRoundIsBegunWhenTheTimeIsUp) {
  Ways ways(Table{{{3}}});
  timeInterleaved(ways.all, {.most = 3, .enoughSeconds = 0});
  EXPECT_EQ(ways.order, "");
}

TEST(Turns, TheLeastRoundsAreTakenHoweverLongTheyAre) {
  Ways ways(Table{{{3}, {1}, {2}}});
  timeInterleaved(ways.all, {.least = 2, .enoughSeconds = 0});
  EXPECT_EQ(ways.order, "aa");
  EXPECT_EQ(ways.all[0].least(), Numbers{1});
}

TEST(Turns, AFailureEndsThem) {
  std::vector<Candidate> ways{{.sample = []() -> Numbers { throw std::runtime_error("no memory"); }}};
  EXPECT_THROW(timeInterleaved(ways, {}), std::runtime_error);
}

}  // namespace
}  // namespace tandem

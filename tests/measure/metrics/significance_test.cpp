#include "measure/metrics/significance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "measure/simulated_machine.h"

namespace tandem {
namespace {

constexpr Noise ofAUsedMachine{0.03, 0.01};
constexpr Noise ofEightPercentBetweenRounds{0.03, 0.08};  // a round's own: four runs of which each counts half

void addRounds(std::vector<double>& rates, size_t rounds, SimulatedMachine& machine, double speedOfA) {
  for (size_t i = 0; i < rounds; ++i) {
    for (const double speed : {speedOfA, 1.0, 1.0, speedOfA}) rates.push_back(machine.rate(speed));
  }
}

/// Pilot rounds, as many more as they ask for until no more are asked for, the finding.
Significance compared(uint64_t seed, double speedOfA, Noise noise) {
  SimulatedMachine machine(seed, noise);
  std::vector<double> rates;
  for (size_t needed = pilotRounds; needed > rates.size() / 4; needed = roundsNeeded(logRatiosOfRounds(rates))) {
    addRounds(rates, needed - rates.size() / 4, machine, speedOfA);
  }
  return significanceOf(*estimateMean(logRatiosOfRounds(rates)));
}

struct Counts {
  int faster = 0, slower = 0, cannotTell = 0;
};

Counts fiveHundred(double speedOfA, Noise noise = ofAUsedMachine) {
  Counts counts;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    const Finding finding = compared(seed, speedOfA, noise).finding;
    ++(finding == Finding::faster ? counts.faster : finding == Finding::slower ? counts.slower : counts.cannotTell);
  }
  return counts;
}

TEST(Significance, OfAThingWithItselfIsWrongInAtMostTwoOfAHundred) {
  const Counts counts = fiveHundred(1);
  EXPECT_LE(counts.faster + counts.slower, 10);
  EXPECT_GE(counts.faster + counts.slower, 1) << "at 99 % some must be wrong; are intervals far too wide?";
}

TEST(Significance, FindsThreePercentWithTheRoundsItAskedFor) {
  const Counts counts = fiveHundred(0.97);
  EXPECT_GE(counts.slower, 475);
  EXPECT_EQ(counts.faster, 0);
}

// The cap ends comparisons before the rounds suffice for 3 %.
TEST(Significance, WithEightPercentBetweenRoundsTheCapMakesNoneWrong) {
  const Counts counts = fiveHundred(1, ofEightPercentBetweenRounds);
  EXPECT_LE(counts.faster + counts.slower, 10);
  EXPECT_GE(counts.faster + counts.slower, 1);
  double detectable = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    detectable += compared(seed, 1, ofEightPercentBetweenRounds).detectablePercent / 100;
  }
  EXPECT_NEAR(detectable, 6.2, 0.5);
  EXPECT_GE(fiveHundred(1 / (1 + detectable / 100), ofEightPercentBetweenRounds).slower, 475)
      << "what it says it would have found is found";
}

TEST(Significance, OnePercentNeverGetsTheWrongSign) {
  EXPECT_EQ(fiveHundred(0.99).faster, 0);
  EXPECT_EQ(fiveHundred(1 / 0.99).slower, 0);
}

TEST(Significance, SteadyDriftCancelsWithinARound) {
  std::vector<double> rates;
  for (int i = 0; i < 8; ++i) rates.push_back(1000 * std::exp(-0.01 * i));
  for (const double ratio : logRatiosOfRounds(rates)) EXPECT_NEAR(ratio, 0, 1e-12);
  rates.resize(7);
  EXPECT_EQ(logRatiosOfRounds(rates).size(), 1u);
}

TEST(Significance, SaysByHowMuchAndHowSurely) {
  EXPECT_EQ(textOf(significanceOf({std::log(1.05), 0.001, 100})), "faster by 5.0 % (95 % interval 4.8 to 5.2 %)");
  EXPECT_EQ(textOf(significanceOf({std::log(0.95), 0.001, 100})), "slower by 5.0 % (95 % interval 4.8 to 5.2 %)");
  EXPECT_EQ(textOf(significanceOf({0.002, 0.001, 100})), "cannot tell (95 % interval 0.0 to 0.4 %)");
}

TEST(Significance, SaysWhatWouldHaveBeenFound) {
  EXPECT_EQ(detectableText("lead", 3.14), "a lead of 3.1 % would have been found");
  EXPECT_EQ(detectableText("lead", 3238.4), "so few runs, as different as these, would not find a lead of 100 %");
}

TEST(Significance, MoreSpreadAsksForMoreRounds) {
  std::vector<double> pilot(pilotRounds);
  for (size_t i = 0; i < pilot.size(); ++i) pilot[i] = i % 2 == 0 ? 0.001 : -0.001;
  EXPECT_EQ(roundsNeeded(pilot), pilotRounds);
  for (double& value : pilot) value *= 16;
  const size_t needed = roundsNeeded(pilot);
  EXPECT_GT(needed, pilotRounds);
  for (double& value : pilot) value *= 2;
  EXPECT_NEAR(static_cast<double>(roundsNeeded(pilot)), 4.0 * static_cast<double>(needed), 4);
  for (double& value : pilot) value *= 100;
  EXPECT_EQ(roundsNeeded(pilot), mostRounds);
}

}  // namespace
}  // namespace tandem

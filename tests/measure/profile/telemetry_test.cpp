#include "measure/profile/telemetry.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tandem {
namespace {

using std::chrono::seconds;

Telemetry clocksOf(const std::vector<std::pair<std::string, double>>& devices) {
  Telemetry telemetry{.at = {seconds(0), seconds(2), seconds(4)},
                      .series = {},
                      .phases = {{"warm-up", seconds(1)}, {"training", seconds(2)}, {"end", seconds(5)}},
                      .cpu = {}};
  for (const auto& [device, clock] : devices)
    telemetry.series.push_back({device, "SM clock", "MHz", {210, clock, clock}});
  return telemetry;
}

TEST(Telemetry, ValuesOfAPhaseLastUntilTheNext) {
  Telemetry telemetry = clocksOf({{"cuda:0", 1000}});
  auto& values = telemetry.series.front().values;
  values = {1, 2, 3};
  EXPECT_EQ(valuesIn(telemetry, telemetry.series.front(), "training"), (std::vector<double>{2, 3}));
  EXPECT_TRUE(valuesIn(telemetry, telemetry.series.front(), "warm-up").empty());
  values[1] = std::nan("");
  EXPECT_EQ(valuesIn(telemetry, telemetry.series.front(), "training"), std::vector<double>{3});
}

TEST(Telemetry, UnequalClocksAreNamedInPercentOfTheFirst) {
  const auto lines = unequalClocks(clocksOf({{"cuda:0", 1771.5}, {"cuda:1", 1683}}), "training");
  EXPECT_EQ(lines, std::vector<std::string>{"SM clock differs: cuda:0 1772 MHz, cuda:1 1683 MHz (95.0 % of cuda:0)"});
}

TEST(Telemetry, OtherProgramsAreThoseBesideTheRunItself) {
  Telemetry telemetry = clocksOf({});
  EXPECT_FALSE(otherPrograms(telemetry, "training"));
  telemetry.series = {{"cuda:0", "programs", "", {7, 1, 1}}, {"cuda:1", "programs", "", {7, 1, 3}}};
  EXPECT_EQ(otherPrograms(telemetry, "training"), 2.0) << "of one GPU at one moment of the phase";
  telemetry.series.pop_back();
  EXPECT_EQ(otherPrograms(telemetry, "training"), 0.0);
  telemetry.series.front().values = {0, 0, 0};
  EXPECT_FALSE(otherPrograms(telemetry, "training")) << "the driver does not list even this one";
}

TEST(Telemetry, ReasonsForLowerClocksAreNamedAndAPowerCapIsNotJudged) {
  Telemetry telemetry = clocksOf({});
  EXPECT_FALSE(slowedShare(telemetry, "training"));
  telemetry.series = {{"cuda:0", "slowed by power cap", "0 or 1", {1, 1, 1}},
                      {"cuda:0", "slowed by hardware", "0 or 1", {1, 0, 0}}};
  EXPECT_EQ(slowedShare(telemetry, "training"), 0.0);
  EXPECT_EQ(slowdowns(telemetry, "training"),
            std::vector<std::string>{"cuda:0 was slowed by power cap in 100.0 % of the samples"});
  telemetry.series.push_back({"cuda:1", "slowed by hardware", "0 or 1", {0, 1, 0}});
  telemetry.series.push_back({"cuda:1", "slowed by heat (hardware)", "0 or 1", {0, 1, 0}});
  EXPECT_EQ(slowedShare(telemetry, "training"), 0.25) << "one of four moments, for two reasons";
  EXPECT_EQ(slowdowns(telemetry, "training").back(), "cuda:1 was slowed by heat (hardware) in 50.0 % of the samples");
}

TEST(Telemetry, EqualClocksAreNotMentioned) {
  EXPECT_TRUE(unequalClocks(clocksOf({{"cuda:0", 1771.5}, {"cuda:1", 1760}}), "training").empty());
  EXPECT_TRUE(unequalClocks(clocksOf({{"cuda:0", 1771.5}}), "training").empty());
  EXPECT_TRUE(unequalClocks(clocksOf({{"cuda:0", 1771.5}, {"cuda:1", 1683}}), "warm-up").empty());
}

}  // namespace
}  // namespace tandem

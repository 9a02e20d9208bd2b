#include "measure/profile/profile.h"

#include <gtest/gtest.h>

#include <utility>

#include "measure/profile/attribution.h"
#include "measure/record_example.h"

namespace tandem {
namespace {

RecordedSpan span(SpanKind kind, int depth, double begin, double end) {
  return {kind, depth, millis(begin), millis(end)};
}

// A step from 100 to 200 ms with a sum and an update in backward, and a sum and an update in the wait after it.
std::vector<RecordedSpan> exampleSpans() {
  return {span(SpanKind::step, 0, 100, 200),     span(SpanKind::exchange, 1, 100, 101),
          span(SpanKind::input, 1, 102, 106),    span(SpanKind::hostToDevice, 2, 103, 104),
          span(SpanKind::forward, 1, 106, 126),  span(SpanKind::loss, 1, 126, 128),
          span(SpanKind::backward, 1, 128, 168), span(SpanKind::exchange, 2, 140, 146),
          span(SpanKind::exchange, 3, 141, 143), span(SpanKind::update, 3, 143, 145),
          span(SpanKind::exchange, 1, 170, 199), span(SpanKind::wait, 2, 171, 197),
          span(SpanKind::exchange, 3, 172, 175), span(SpanKind::update, 3, 175, 182)};
}

TEST(Profile, partsDoNotOverlapAndAddUpToTheStep) {
  const StepParts parts = stepBreakdown(exampleSpans());
  EXPECT_EQ(parts.begin, millis(100));
  EXPECT_EQ(parts.arrival, millis(170));
  EXPECT_EQ(parts.wall, millis(100));
  EXPECT_EQ(parts.input, millis(3));
  EXPECT_EQ(parts.hostToDevice, millis(1));
  EXPECT_EQ(parts.forward, millis(20));
  EXPECT_EQ(parts.loss, millis(2));
  EXPECT_EQ(parts.backward, millis(34));
  EXPECT_EQ(parts.hiddenExchange, millis(4));
  EXPECT_EQ(parts.hiddenUpdate, millis(2));
  EXPECT_EQ(parts.exchange, millis(1 + 3 + 3));
  EXPECT_EQ(parts.update, millis(7));
  EXPECT_EQ(parts.idle, millis(16));
  EXPECT_EQ(parts.rest, millis(4));
  Nanos sum{};
  for (const Part& part : tandem::stepParts()) sum += parts.*part.time;
  EXPECT_EQ(sum, parts.wall);
}

/// Begins at `begin` ms and hands 100, 200, ... bytes over at `at` ms.
StepArrivals arrivals(int64_t step, double begin, const std::vector<double>& at) {
  StepArrivals found{.step = step, .begin = millis(begin)};
  for (const double time : at) {
    found.arrivals.push_back({100 * static_cast<int64_t>(found.arrivals.size() + 1), millis(time)});
  }
  return found;
}

std::vector<ExchangeArrivals> exchangesOf(const std::vector<std::vector<StepArrivals>>& replicas) {
  const std::vector<std::span<const StepArrivals>> views(replicas.begin(), replicas.end());
  return tandem::exchangesOf(views);
}

TEST(Profile, arrivalsAreComparedByExchange) {
  const auto found = exchangesOf({{arrivals(0, 10, {15, 18}), arrivals(1, 30, {35, 39}), arrivals(2, 50, {57, 58})},
                                  {arrivals(0, 11, {14, 19}), arrivals(1, 29, {34, 40}), arrivals(2, 50, {56, 60})}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], (ExchangeArrivals{100, millis(1), {millis(6), millis(5)}, {3, 0}}));
  EXPECT_EQ(found[1], (ExchangeArrivals{200, millis(1), {millis(8), millis(10)}, {0, 3}}));
}

TEST(Profile, ofTwoStepsTheArrivalsAreTheirMean) {
  const auto found =
      exchangesOf({{arrivals(0, 0, {1}), arrivals(1, 10, {11})}, {arrivals(0, 0, {2}), arrivals(1, 10, {20})}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], (ExchangeArrivals{100, millis(5), {millis(1), millis(6)}, {0, 2}}));
}

TEST(Profile, arrivalsOfStepsThatNotAllHaveAreLeftOut) {
  const auto found = exchangesOf({{arrivals(0, 0, {9}), arrivals(4, 40, {45}), arrivals(8, 80, {87})},
                                  {arrivals(4, 40, {44}), arrivals(8, 80, {}), arrivals(12, 120, {127})}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], (ExchangeArrivals{100, millis(1), {millis(5), millis(4)}, {1, 0}}));
  EXPECT_TRUE(exchangesOf({{arrivals(0, 0, {9})}}).empty()) << "one replica";
  EXPECT_TRUE(exchangesOf({{arrivals(0, 0, {})}, {arrivals(0, 0, {})}}).empty());
}

/// Of a recorded step, with a call of the host amid the launch.
std::vector<RecordedSpan> launchedSpans() {
  return {span(SpanKind::step, 0, 0, 100),    span(SpanKind::exchange, 1, 0, 1),   span(SpanKind::input, 1, 2, 3),
          span(SpanKind::launch, 1, 3, 63),   span(SpanKind::exchange, 2, 10, 16), span(SpanKind::update, 3, 11, 13),
          span(SpanKind::exchange, 1, 70, 99)};
}

TEST(Profile, whatTheHostDoesWithinALaunchIsHidden) {
  const StepParts parts = stepBreakdown(launchedSpans());
  EXPECT_EQ(parts.launch, millis(54));
  EXPECT_EQ(parts.hiddenExchange, millis(4));
  EXPECT_EQ(parts.hiddenUpdate, millis(2));
  EXPECT_EQ(parts.exchange, millis(1 + 29));
  EXPECT_EQ(parts.rest, millis(100 - 1 - 1 - 60 - 29));
  EXPECT_EQ(parts.arrival, millis(70));
}

TEST(Profile, nobodyArrivesAtAnExchangeThatIsLaunched) {
  const auto spans = launchedSpans();
  EXPECT_FALSE(stepBreakdown(std::span(spans).first(6)).arrival) << "weights were fetched before";
}

TEST(Profile, withoutExchangeNobodyArrives) {
  const auto spans = exampleSpans();
  EXPECT_FALSE(stepBreakdown(std::span(spans).first(1)).arrival);
}

/// Replica r takes `forward[r]` ms; who is early waits. Odd steps are 0.5 ms longer.
RunRecord profiled(const std::vector<double>& forward) {
  RunRecord record = exampleRecord(static_cast<int64_t>(forward.size()), "replicated", 50);
  record.placement.flopsPerImage = 24.3e9;
  record.profile.emplace().inputBytes = 3'000'000;
  const double last = *std::max_element(forward.begin(), forward.end());
  for (const double own : forward) {
    ReplicaProfile& replica = record.profile->replicas.emplace_back();
    for (int64_t step = 0; step < 30; ++step) {
      const double odd = step % 2 == 0 ? 0 : 0.5;
      StepParts parts{.step = step, .begin = millis(50 * static_cast<double>(step))};
      parts.forward = millis(own + odd), parts.idle = millis(last - own), parts.exchange = millis(4);
      parts.wall = parts.forward + parts.idle + parts.exchange;
      parts.arrival = parts.begin + parts.forward;
      replica.steps.push_back(parts);
    }
  }
  return record;
}

TEST(Attribution, namesTheStragglerAndItsLead) {
  const auto last = lastToArrive(profiled({20, 21, 25}));
  ASSERT_TRUE(last);
  EXPECT_EQ(last->replica, 2);
  EXPECT_TRUE(last->straggler);
  EXPECT_DOUBLE_EQ(last->share, 1);
  EXPECT_NEAR(last->leadSeconds, 4.5e-3, 1e-9) << "the others arrive after 20.5 ms in the median";
}

TEST(Attribution, fewStepsMakeNoStraggler) {
  RunRecord record = profiled({20, 25});
  for (auto& replica : record.profile->replicas) replica.steps.resize(19);
  const auto last = lastToArrive(record);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->steps, 19U);
  EXPECT_FALSE(last->straggler);
}

TEST(Attribution, oftenOrLateAloneMakesNoStraggler) {
  const auto often = lastToArrive(profiled({20, 20.1}));
  ASSERT_TRUE(often);
  EXPECT_EQ(often->replica, 1);
  EXPECT_FALSE(often->straggler) << "0.4 % of a step";
  RunRecord turns = profiled({20, 20});
  for (auto& replica : turns.profile->replicas) {
    for (StepParts& step : replica.steps) {
      const bool late = (step.step % 2 == 0) == (&replica == &turns.profile->replicas[0]);
      if (late) *step.arrival += millis(5);
    }
  }
  EXPECT_FALSE(lastToArrive(turns)->straggler) << "each in half of the steps";
}

TEST(Attribution, nobodyIsLastWhereNothingIsExchanged) {
  EXPECT_FALSE(lastToArrive(profiled({20})));
  RunRecord control = profiled({20, 25});
  control.placement.control = true;
  EXPECT_FALSE(lastToArrive(control));
  RunRecord forwardOnly = profiled({20, 25});
  for (auto& replica : forwardOnly.profile->replicas) {
    for (StepParts& step : replica.steps) step.arrival.reset();
  }
  EXPECT_FALSE(lastToArrive(forwardOnly));
  EXPECT_FALSE(lastToArrive(exampleRecord(2, "replicated", 50)));
}

TEST(Attribution, onlyStepsThatAllReplicasHaveCount) {
  RunRecord record = profiled({20, 25});
  auto& first = record.profile->replicas[0].steps;
  first.erase(first.begin(), first.begin() + 15);
  const auto last = lastToArrive(record);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->replica, 1);
  EXPECT_NEAR(last->leadSeconds, 5e-3, 1e-9);
}

TEST(Attribution, theCauseComesBeforeWhatFollowsFromIt) {
  const auto found = partChanges(*profiled({20, 20}).profile, *profiled({20, 25}).profile);
  ASSERT_EQ(found.size(), 2 * stepParts().size());
  EXPECT_EQ(found.front().part->name, "forward");
  EXPECT_EQ(found.front().replica, 1);
  EXPECT_NEAR(found.front().growth(), 5e-3, 1e-9);
  const auto idle = std::find_if(found.begin(), found.end(), [](const PartChange& c) { return c.part->follows; });
  EXPECT_EQ(idle - found.begin(), static_cast<std::ptrdiff_t>(2 * stepParts().size() - 2));
  EXPECT_EQ(idle->replica, 0);
  EXPECT_NEAR(idle->growth(), 5e-3, 1e-9);
}

TEST(Attribution, workIsOfOneReplicaAndInItsTime) {
  RunRecord record = profiled({20, 25});
  const auto work = achievedWork(record);
  ASSERT_EQ(work.size(), 3U);
  EXPECT_NEAR(work[0].amount, 24.3e9 * 16, 1) << "of 16 images, as the step does it";
  EXPECT_NEAR(work[0].seconds, 22.75e-3, 1e-9) << "mean of both replicas' medians";
  EXPECT_NEAR(*work[0].rate(), 24.3e9 * 16 / 22.75e-3, 1e3);
  EXPECT_EQ(work[0].peak, 0) << "not measured";
  EXPECT_EQ(work[1].amount, 3e6);
  EXPECT_FALSE(work[1].rate()) << "no time was spent";
  EXPECT_NEAR(*work[2].rate(), 3 * 1024.0 * 1024 / 4e-3, 1);
  record.flopsPeak = 1e12, record.bytesPeak = 4e10;
  EXPECT_EQ(achievedWork(record)[0].peak, 5e11) << "of one of two replicas";
  EXPECT_EQ(achievedWork(record)[2].peak, 2e10);
  record.profile.reset();
  EXPECT_TRUE(achievedWork(record).empty());
}

// Forward is 20 or 25 of 29 ms of a step, by 0.25 ms more in the mean; the exchange is 4.
TEST(Attribution, headroomIsWhatAStepWouldGainWithoutAPart) {
  RunRecord record = profiled({20, 25});
  const auto factorOf = [&](std::string_view name) {
    for (const Headroom& room : headroomOf(record)) {
      if (room.name == name) return room.factor;
    }
    return 0.0;
  };
  const double step = 29.25;
  EXPECT_NEAR(factorOf("exchange"), step / (step - 4), 1e-9);
  EXPECT_NEAR(factorOf("idle"), step / (step - 2.5), 1e-9);
  EXPECT_EQ(factorOf("input"), 1) << "it takes no time";
  EXPECT_EQ(factorOf("compute"), 0) << "no peak is known";
  EXPECT_EQ(headroomOf(record).front().name, "exchange") << "the largest gain comes first";
  const double rate = 24.3e9 * 16 / 22.75e-3;
  record.flopsPeak = 2 * 2 * rate;
  EXPECT_NEAR(factorOf("compute"), step / (step - 22.75 / 2), 1e-9) << "half of the peak";
  EXPECT_NEAR(headroomOf(record).front().rateNow.value_or(0), 0.5, 1e-9);
  record.flopsPeak = 2 * 0.9 * rate;
  EXPECT_EQ(factorOf("compute"), 0) << "it is above the peak";
  RunRecord onGpu = record;
  onGpu.profile->device.emplace();
  EXPECT_TRUE(headroomOf(onGpu).empty()) << "the host's thread does not tell what a GPU would gain";
  for (auto& replica : record.profile->replicas) {
    for (StepParts& step : replica.steps) step.launch = std::exchange(step.forward, Nanos{});
  }
  EXPECT_TRUE(headroomOf(record).empty()) << "a captured step hides its parts";
}

TEST(Attribution, workThatIsLaunchedHasNoTimeOfTheHosts) {
  RunRecord record = profiled({20, 25});
  EXPECT_FALSE(isCaptured(*record.profile));
  for (auto& replica : record.profile->replicas) {
    for (StepParts& step : replica.steps) step.launch = std::exchange(step.forward, Nanos{});
  }
  EXPECT_TRUE(isCaptured(*record.profile));
  const auto inParts = achievedWork(record);
  ASSERT_EQ(inParts.size(), 2U);
  EXPECT_EQ(inParts[0].name, "input");
  EXPECT_EQ(inParts[1].name, "gradients received");
  for (auto& replica : record.profile->replicas) {
    for (StepParts& step : replica.steps) step.arrival.reset();
  }
  EXPECT_EQ(achievedWork(record).size(), 1U) << "the exchange is launched too";
}

}  // namespace
}  // namespace tandem

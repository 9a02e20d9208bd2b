#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/catalog.h"
#include "engine/steps_in_flight.h"
#include "engine/team.h"
#include "engine/team_options.h"
#include "models/model.h"
#include "support/recorded_streams.h"

namespace tandem {

C10_REGISTER_GUARD_IMPL(PrivateUse1, RecordedStreamsGuard)

namespace {

using Call = RecordedStreams::Call;

int64_t count(const std::vector<RecordedStreams::Entry>& entries, Call call) {
  return std::ranges::count(entries, call, &RecordedStreams::Entry::call);
}

/// A way of training whose work streams order, on two replicas.
struct Way {
  std::string strategy, allReduce, parameterDevice = "cpu";
};

std::vector<Way> ways() {
  std::vector<Way> all{
      {"independent", "shared"}, {"parameter_server", "shared"}, {"parameter_server", "shared", "device"}};
  for (const AllReduceEntry& row : allReduces()) {
    if (row.onCpu && row.onCuda) all.push_back({"replicated", std::string(row.name)});
  }
  return all;
}

class StreamedTeam {
 public:
  StreamedTeam(const Way& way, int64_t inFlight) : graph_(buildModel("trivial", {})) {
    Config config;
    config.model = "trivial";
    config.batch = 2;
    config.replicas = 2;
    config.oversubscribe = true;
    config.strategy = way.strategy;
    config.parameterDevice = way.parameterDevice;
    TeamOptions options = teamOptions(resolvePlan(config, 2), graph_, {&layouts().front(), {}, ""});
    options.allReduce = &find(allReduces(), way.allReduce, "--all-reduce");
    options.inFlight = inFlight;
    for (int i = 0; i < 2; ++i)
      options.devices[static_cast<size_t>(i)] = Device::cpuWithStreams(i, RecordedStreams::device(i));
    team_.emplace(options);
  }

  /// What the streams saw of `steps` steps, after two others.
  std::vector<RecordedStreams::Entry> see(int64_t steps) {
    std::vector<RecordedStreams::Entry> seen;
    team_->run([&](Team::Member& member) {
      for (int i = 0; i < 2; ++i) member.step();
      member.barrier();
      if (member.index() == 0) RecordedStreams::take();
      member.barrier();
      for (int64_t i = 0; i < steps; ++i) member.step();
      member.barrier();
      if (member.index() == 0) seen = RecordedStreams::take();
      member.barrier();
    });
    return seen;
  }

  /// Of replica 0, after two other steps.
  std::vector<StepSample> samples(int64_t steps) {
    std::vector<StepSample> samples;
    team_->run([&](Team::Member& member) {
      for (int i = 0; i < 2; ++i) member.step();
      for (int64_t i = 0; i < steps; ++i) {
        const StepSample sample = member.step();
        if (member.index() == 0) samples.push_back(sample);
      }
    });
    return samples;
  }

 private:
  Graph graph_;
  std::optional<Team> team_;
};

TEST(Streams, NoStepWaitsForTheHost) {
  for (const Way& way : ways()) {
    const auto seen = StreamedTeam(way, /*inFlight=*/100).see(4);
    EXPECT_GT(count(seen, Call::record), 0) << way.strategy << ' ' << way.allReduce;
    EXPECT_EQ(count(seen, Call::hostWaits), 0) << way.strategy << ' ' << way.allReduce;
  }
}

TEST(Streams, ReplicasThatExchangeWaitForOneAnotherOnTheirStreams) {
  for (const Way& way : ways()) {
    const auto seen = StreamedTeam(way, /*inFlight=*/100).see(3);
    if (way.strategy == "independent") {
      EXPECT_EQ(count(seen, Call::block), 0);
      continue;
    }
    for (const int device : {0, 1}) {
      const auto blocks = std::ranges::count_if(
          seen, [&](const auto& entry) { return entry.call == Call::block && entry.device == device; });
      EXPECT_GE(blocks, 3) << way.strategy << ' ' << way.allReduce << " replica " << device;
    }
  }
}

TEST(Streams, TheHostRunsAheadByTheStepsInFlight) {
  constexpr int64_t steps = 5;
  const auto seen = StreamedTeam({"independent", "shared"}, /*inFlight=*/2).see(steps);
  EXPECT_EQ(count(seen, Call::hostWaits), 2 * steps);  // of each replica, once a step
}

TEST(Streams, WaitingForTheDeviceIsItsComputing) {
  RecordedStreams::waitTakes = std::chrono::milliseconds(30);
  StreamedTeam team({"independent", "shared"}, /*inFlight=*/1);
  const std::vector<StepSample> samples = team.samples(3);
  RecordedStreams::waitTakes = {};
  for (const StepSample& sample : samples) EXPECT_GE(sample.compute, std::chrono::milliseconds(30));
}

/// The events that the host waited for while ten steps ended.
std::vector<int64_t> waitedFor(int64_t inFlight) {
  const Device device = Device::cpuWithStreams(0, RecordedStreams::device(0));
  RecordedStreams::take();
  StepsInFlight steps(inFlight);
  int64_t first = -1;
  std::vector<int64_t> waited;
  for (int i = 0; i < 10; ++i) {
    steps.add(device.record());
    for (const auto& entry : RecordedStreams::take()) {
      if (first < 0) first = entry.event;
      if (entry.call == Call::hostWaits) waited.push_back(entry.event - first);
    }
  }
  return waited;
}

TEST(StepsInFlight, TheOldestStepIsWaitedFor) {
  EXPECT_EQ(waitedFor(1), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(waitedFor(2), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(waitedFor(4), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(waitedFor(11).empty());
}

TEST(StepsInFlight, WithoutStreamsThereIsNothingToWaitFor) {
  StepsInFlight steps(1);
  EXPECT_NO_THROW(steps.add(Device::cpu(0, {}, 0).record()));
}

}  // namespace
}  // namespace tandem

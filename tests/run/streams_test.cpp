#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "base/catalog.h"
#include "base/text.h"
#include "models/model.h"
#include "run/plan/replica_set_options.h"
#include "support/recorded_streams.h"
#include "support/streamed_work.h"
#include "train/captured_step.h"
#include "train/in_flight_limiter.h"
#include "train/replica_set.h"

namespace tandem {

C10_REGISTER_GUARD_IMPL(PrivateUse1, RecordedStreamsGuard)

namespace {

using Call = CapturedStreams::Call;

int64_t count(const std::vector<CapturedStreams::Entry>& entries, Call call) {
  return std::ranges::count(entries, call, &CapturedStreams::Entry::call);
}

/// A way of training whose work streams order, on two replicas.
struct Way {
  std::string strategy, allReduce, parameterDevice = "cpu";
  std::string name() const { return concat(strategy, ' ', allReduce, ' ', parameterDevice); }
};

/// Of a run.
struct Flow {
  int64_t inFlight = 100;
  bool recorded = false;
  bool eventOfBatch = false;  ///< as a source has that copies on a stream of its own
  bool overlap = true;
};

class SourceWithEvents final : public BatchSource {
 public:
  SourceWithEvents(std::unique_ptr<BatchSource> inner, const Device& device)
      : inner_(std::move(inner)), device_(device) {}
  bool next(Batch& out) override {
    const bool any = inner_->next(out);
    out.ready = device_.record();
    return any;
  }

 private:
  std::unique_ptr<BatchSource> inner_;
  const Device& device_;
};

/// Waits of the host but those of the parameter server there: on the thread of replica 0, for what streams beside have
/// copied.
int64_t waitsOfTheHost(const Way& way, const std::vector<CapturedStreams::Entry>& seen) {
  const bool isServed = way.strategy == "parameter_server" && way.parameterDevice == "cpu";
  std::set<int64_t> copied;
  std::thread::id server;
  for (const auto& entry : seen) {
    if (entry.call != Call::record) continue;
    if (CapturedStreams::isBeside(entry.stream)) copied.insert(entry.event);
    if (entry.stream == 0) server = entry.thread;
  }
  return std::ranges::count_if(seen, [&](const auto& entry) {
    const bool byServer = isServed && entry.thread == server && copied.contains(entry.event);
    return entry.call == Call::hostWaits && !byServer;
  });
}

std::vector<Way> ways() {
  std::vector<Way> all{{"independent", "shared"},
                       {"compressed", "shared"},
                       {"parameter_server", "shared"},
                       {"parameter_server", "shared", "device"}};
  for (const AllReduceEntry& row : allReduces()) {
    if (row.onCpu && row.onCuda) all.push_back({"replicated", std::string(row.name)});
  }
  return all;
}

class StreamedTeam {
 public:
  StreamedTeam(const Way& way, const Flow& flow) : graph_(buildModel("trivial", {})) {
    Config config;
    config.network.model = "trivial";
    config.network.imageSize = 16, config.network.classes = 10;  // streams see the same of few weights
    config.step.batch = 2;
    config.placement.replicas = 2;
    config.placement.oversubscribe = true;
    config.exchange.strategy = way.strategy;
    config.exchange.parameterDevice = way.parameterDevice;
    ReplicaSetOptions options = trainingOptions(resolvePlan(config), KernelSelection());
    options.allReduce = &find(allReduces(), way.allReduce, "--all-reduce");
    options.inFlight = flow.inFlight;
    options.overlap = flow.overlap;
    options.buckets.bytes = 1024;  // several even in a small network
    for (int i = 0; i < 2; ++i) devices_.push_back(Device::cpuWithStreams(i, CapturedStreams::device(i)));
    options.devices = devices_;
    if (flow.eventOfBatch) {
      options.source = [this, source = options.source](int replica) {
        return std::make_unique<SourceWithEvents>(source(replica), devices_.at(static_cast<size_t>(replica)));
      };
    }
    if (flow.recorded) {
      options.recorder = [](const Device& device) {
        return std::make_unique<StreamedWork>(device.name() == "cpu:0" ? 0 : 1);
      };
    }
    team_.emplace(options);
  }

  /// What the streams saw of `steps` steps, after those that are never recorded and one more.
  std::vector<CapturedStreams::Entry> see(int64_t steps) {
    std::vector<CapturedStreams::Entry> seen;
    team_->run([&](ReplicaSet::Member& member) {
      for (int i = 0; i <= CapturedStep::eagerSteps; ++i) member.step();
      member.barrier();
      if (member.index() == 0) CapturedStreams::take();
      member.barrier();
      for (int64_t i = 0; i < steps; ++i) member.step();
      member.barrier();
      if (member.index() == 0) seen = CapturedStreams::take();
      member.barrier();
    });
    return seen;
  }

  void run(const std::function<void(ReplicaSet::Member&)>& body) { team_->run(body); }

  /// Of replica 0, after two other steps.
  std::vector<StepSample> samples(int64_t steps) {
    std::vector<StepSample> samples;
    team_->run([&](ReplicaSet::Member& member) {
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
  std::vector<Device> devices_;
  std::optional<ReplicaSet> team_;
};

TEST(Streams, NoStepWaitsForTheHost) {
  for (const Way& way : ways()) {
    for (const bool overlap : {true, false}) {
      const auto seen = StreamedTeam(way, {.overlap = overlap}).see(4);
      EXPECT_GT(count(seen, Call::record), 0) << way.strategy << ' ' << way.allReduce;
      EXPECT_EQ(waitsOfTheHost(way, seen), 0) << way.name();
    }
  }
}

TEST(Streams, TheServerOnTheHostWaitsForEachCopyOfEachReplica) {
  const auto seen = StreamedTeam({"parameter_server", "shared"}, {}).see(3);
  std::set<int64_t> copied, waited;
  for (const auto& entry : seen) {
    if (entry.call == Call::record && CapturedStreams::isBeside(entry.stream)) copied.insert(entry.event);
    if (entry.call == Call::hostWaits) waited.insert(entry.event);
  }
  EXPECT_GE(copied.size(), 2U * 3);
  EXPECT_EQ(waited, copied);
}

TEST(Streams, ReplicasThatExchangeWaitForOneAnotherOnTheirStreams) {
  for (const Way& way : ways()) {
    const auto seen = StreamedTeam(way, {}).see(3);
    if (way.strategy == "independent") {
      EXPECT_EQ(count(seen, Call::block), 0);
      continue;
    }
    for (const int device : {0, 1}) {
      const auto blocks = std::ranges::count_if(
          seen, [&](const auto& entry) { return entry.call == Call::block && entry.stream == device; });
      EXPECT_GE(blocks, 3) << way.strategy << ' ' << way.allReduce << " replica " << device;
    }
  }
}

TEST(Streams, TheHostRunsAheadByTheStepsInFlight) {
  constexpr int64_t steps = 5;
  const auto seen = StreamedTeam({"independent", "shared"}, {.inFlight = 2}).see(steps);
  EXPECT_EQ(count(seen, Call::hostWaits), 2 * steps);  // of each replica, once a step
}

TEST(Streams, WaitingForTheDeviceIsItsComputing) {
  CapturedStreams::waitTakes = std::chrono::milliseconds(30);
  StreamedTeam team({"independent", "shared"}, {.inFlight = 1});
  const std::vector<StepSample> samples = team.samples(3);
  CapturedStreams::waitTakes = {};
  for (const StepSample& sample : samples) EXPECT_GE(sample.compute, std::chrono::milliseconds(30));
}

bool exchanges(const Way& way) { return way.strategy != "independent"; }

// A record holds what a stream did then. The host would wait for others' records while it makes its own, and an event
// that a launch waits for is the one that was recorded last before that launch: of the step before.
TEST(Streams, RecordedWorkHoldsNoEvents) {
  for (const Way& way : ways()) {
    for (const bool overlap : {true, false}) {
      const auto seen = StreamedTeam(way, {.recorded = true, .overlap = overlap}).see(3);
      EXPECT_EQ(waitsOfTheHost(way, seen), 0) << way.name();
      const int64_t parts = count(seen, Call::work);
      if (exchanges(way) && overlap) {
        EXPECT_GT(parts, 2 * 3) << way.name() << ": exchanged while backward goes on";
      } else {
        EXPECT_EQ(parts, 2 * 3) << way.name() << ": exchanged after backward, or never";
      }
      for (const auto& entry : seen) EXPECT_FALSE(entry.amid) << way.name();
    }
  }
}

// The first part of a step reads weights that are made of all gradients of the step before.
void expectStepsAfterAllOfTheStepBefore(const Way& way, const Flow& flow) {
  constexpr int64_t steps = 4;
  const auto seen = StreamedTeam(way, flow).see(steps);
  const int64_t parts = count(seen, Call::work) / (2 * steps);  // of each replica's step
  StreamOrder order;
  for (const auto& entry : seen) {
    const int64_t done = entry.call == Call::work ? order.over(entry.stream, entry.stream) : -1;
    if (done >= 0 && done % parts == 0) {
      EXPECT_GE(order.over(entry.stream, 1 - entry.stream), exchanges(way) ? done : 0) << way.name();
    }
    order.follow(entry);
  }
  EXPECT_EQ(order.over(0, 0), steps * parts) << way.name();
}

TEST(Streams, RecordedStepsComeAfterAllThatOthersDidInTheStepBefore) {
  for (const Way& way : ways()) {
    for (const bool overlap : {true, false}) {
      expectStepsAfterAllOfTheStepBefore(way, {.recorded = true, .overlap = overlap});
    }
  }
}

// A batch is copied and normalised on a stream of its own, during the step before; the replica's stream waits for it
// between the launches.
TEST(Streams, ABatchIsWaitedForBetweenRecordedSteps) {
  const auto seen = StreamedTeam({"independent", "shared"}, {.recorded = true, .eventOfBatch = true}).see(3);
  for (const int device : {0, 1}) {
    std::vector<Call> calls;
    for (const auto& entry : seen) {
      EXPECT_FALSE(entry.amid);
      const bool matters = entry.call == Call::block || entry.call == Call::work;
      if (matters && entry.stream == device) calls.push_back(entry.call);
    }
    EXPECT_EQ(calls, (std::vector<Call>{Call::block, Call::work, Call::block, Call::work, Call::block, Call::work}));
  }
}

/// What replica 0 does on a device that never ends its work, because replica 1 fails.
void expectFreed(const std::function<void(ReplicaSet::Member&)>& work) {
  CapturedStreams::stuck = true;
  std::atomic<bool> began{false}, wentOn{false};
  EXPECT_THROW(StreamedTeam({"independent", "shared"}, {.inFlight = 1}).run([&](ReplicaSet::Member& member) {
    if (member.index() == 1) {
      while (!began) std::this_thread::yield();
      throw DataError("an image is damaged");
    }
    began = true;
    work(member);
    wentOn = true;
  }),
               DataError);
  CapturedStreams::stuck = false;
  EXPECT_FALSE(wentOn);
}

TEST(Streams, AFailureFreesWhoWaitsForTheDeviceAndIsWhatIsReported) {
  expectFreed([](ReplicaSet::Member& member) { member.synchronize(); });
  expectFreed([](ReplicaSet::Member& member) {
    for (int step = 0; step < 2; ++step) member.step();
  });
}

/// The events that the host waited for while ten steps ended.
std::vector<int64_t> waitedFor(int64_t inFlight) {
  const Device device = Device::cpuWithStreams(0, CapturedStreams::device(0));
  CapturedStreams::take();
  Monitor monitor(/*block=*/false);
  InFlightLimiter steps(inFlight, monitor);
  int64_t first = -1;
  std::vector<int64_t> waited;
  for (int i = 0; i < 10; ++i) {
    steps.add(device.record());
    for (const auto& entry : CapturedStreams::take()) {
      if (first < 0) first = entry.event;
      if (entry.call == Call::hostWaits) waited.push_back(entry.event - first);
    }
  }
  return waited;
}

TEST(InFlightLimiter, TheOldestStepIsWaitedFor) {
  EXPECT_EQ(waitedFor(1), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(waitedFor(2), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(waitedFor(4), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(waitedFor(11).empty());
}

TEST(InFlightLimiter, WithoutStreamsThereIsNothingToWaitFor) {
  Monitor monitor(/*block=*/false);
  InFlightLimiter steps(1, monitor);
  EXPECT_NO_THROW(steps.add(Device::cpu(0, {}, 0).record()));
}

}  // namespace
}  // namespace tandem

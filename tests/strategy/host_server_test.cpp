// The parameter server on the host, of replicas whose work is ordered by streams.
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "strategy/synthetic_training.h"
#include "support/late_copies.h"
#include "support/precisions.h"
#include "support/recorded_streams.h"
#include "support/streamed_work.h"

namespace tandem {

C10_REGISTER_GUARD_IMPL(PrivateUse1, RecordedStreamsGuard)

namespace {

using Call = CapturedStreams::Call;
using Results = std::vector<std::unique_ptr<FlatBuffers>>;

constexpr int buckets = 3;        // of 500 bytes: d and c, b, e and a
constexpr int64_t gradients = 5;  // of a step
constexpr int attach = 3;         // how often it waits for its device
constexpr int attachAndFinish = 2;

class HostServer : public testing::Test {
 protected:
  HostServer() {
    run_.strategy = &find(strategies(), "parameter_server", "strategy");
    run_.replicas = 2;
  }

  /// By replicas whose copies beside their work are made as late as may be.
  Results trainStreamed() {
    std::vector<Device> devices;
    for (int i = 0; i < run_.replicas; ++i) devices.push_back(Device::cpuWithStreams(i, CapturedStreams::device(i)));
    const LateCopies late;
    CapturedStreams::take();
    Results results = train(run_, devices);
    entries_ = CapturedStreams::take();
    copies_ = LateCopies::seen();
    return results;
  }

  /// The pull and each gradient become work of the replica's own stream.
  void showWork() {
    const auto enqueue = [](int rank) { CapturedStreams::add({Call::work, rank, -1}); };
    run_.atBegin = [=](int rank, int64_t, FlatBuffers&) { enqueue(rank); };
    run_.spoil = [=](int rank, int64_t, int, const at::Tensor&) { enqueue(rank); };
  }

  SyntheticRun run_;
  std::vector<CapturedStreams::Entry> entries_;
  std::vector<LateCopies::Copy> copies_;
};

void expectSameBits(const Results& actual, const Results& expected, const std::string& name) {
  for (size_t rank = 0; rank < actual.size(); ++rank) {
    for (int segment = 0; segment < expected[rank]->segments(); ++segment) {
      const Slice whole = expected[rank]->whole(segment);
      EXPECT_TRUE(at::equal(actual[rank]->master(whole), expected[rank]->master(whole)))
          << name << ", replica " << rank;
      EXPECT_TRUE(at::equal(actual[rank]->weights(whole), expected[rank]->weights(whole)))
          << name << ", replica " << rank;
    }
  }
}

// A sum that does not wait for its copies is no number.
TEST_F(HostServer, GivesTheBitsOfAServerThatReadsGradientsWhereTheyAre) {
  for (const Precision& precision : precisionsOnCpu()) {
    for (const int replicas : {1, 2, 3, 4}) {
      run_.precision = precision.name, run_.replicas = replicas;
      expectSameBits(trainStreamed(), train(run_), concat(precision.name, ' ', replicas, " replicas"));
    }
  }
}

TEST_F(HostServer, LeavesOutTheStepsThatOverflow) {
  for (const Precision& precision : precisionsOnCpu()) {
    if (!precision.lossScaling) continue;
    run_.precision = precision.name;
    run_.lossScale = LossScaleRule{.initial = 1024};
    run_.spoil = [](int rank, int64_t batch, int of, at::Tensor gradient) {
      if (rank == 1 && batch == 2 && of == 2) gradient[500] = std::numeric_limits<float>::infinity();
    };
    run_.atEnd = [](int rank, const LossScale& scale) { EXPECT_EQ(scale.state().skipped, 1) << "replica " << rank; };
    expectSameBits(trainStreamed(), train(run_), std::string(precision.name));
  }
}

// The copy of a bucket comes after the pull, hence the event behind it after the pull's end, and after its gradients,
// but not after what is computed next.
TEST_F(HostServer, ABucketIsCopiedOnceAfterItsGradients) {
  run_.steps = 3;
  showWork();
  trainStreamed();
  StreamOrder order;
  std::map<int, std::vector<int64_t>> after;  // by replica, per copy: how much of its own stream's work is over
  for (const auto& entry : entries_) {
    order.follow(entry);
    if (entry.call != Call::work || !CapturedStreams::isBeside(entry.stream)) continue;
    const int replica = entry.stream - CapturedStreams::devices;
    after[replica].push_back(order.over(entry.stream, replica));
  }
  std::vector<int64_t> forwards, backwards;  // buckets are copied in order: the last gradient is of the first one
  for (int64_t step = 0; step < run_.steps; ++step) {
    const int64_t before = step * (1 + gradients);
    for (const int64_t work : {3, 4, 6}) forwards.push_back(before + work);
    for (int i = 0; i < buckets; ++i) backwards.push_back(before + 1 + gradients);
  }
  EXPECT_EQ(after[0], forwards);
  EXPECT_EQ(after[1], backwards);
}

TEST_F(HostServer, OnlyTheServerWaitsAndForEachCopy) {
  showWork();
  trainStreamed();
  std::set<int64_t> copied, waited;
  int64_t waitsForDevices = 0;
  std::thread::id server;
  for (const auto& entry : entries_) {
    if (entry.call == Call::record && CapturedStreams::isBeside(entry.stream)) copied.insert(entry.event);
    if (entry.call == Call::work && entry.stream == 0) server = entry.thread;
  }
  for (const auto& entry : entries_) {
    if (entry.call != Call::hostWaits || entry.event < 0) continue;
    if (!copied.contains(entry.event)) {
      ++waitsForDevices;
      continue;
    }
    EXPECT_EQ(entry.thread, server);
    waited.insert(entry.event);
  }
  EXPECT_EQ(waitsForDevices, attach * run_.replicas);  // and none in a step
  EXPECT_EQ(static_cast<int64_t>(copied.size()), run_.steps * buckets * run_.replicas);
  EXPECT_EQ(waited, copied);
}

TEST_F(HostServer, WeightsArePulledOnTheStreamThatComputes) {
  const Results results = trainStreamed();
  for (const auto& buffers : results) {
    const void* weights = buffers->weights(buffers->whole(0)).const_data_ptr();
    int64_t pulls = 0;
    for (const LateCopies::Copy& copy : copies_) {
      if (copy.to != weights) continue;
      if (copy.nonBlocking) ++pulls;
      EXPECT_EQ(copy.stream, -1);
    }
    EXPECT_EQ(pulls, run_.steps + attachAndFinish);
  }
  for (const LateCopies::Copy& copy : copies_) {
    EXPECT_TRUE(copy.stream < 0 || copy.nonBlocking) << "gradients to the host";
  }
}

}  // namespace
}  // namespace tandem

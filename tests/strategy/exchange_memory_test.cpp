// Groups that bring memory of their own for what they exchange.
#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "strategy/synthetic_training.h"

namespace tandem {
namespace {

/// What all groups of a test gave.
struct Given {
  std::mutex mutex;
  std::set<const void*> memory, exchanged;
  int refuses = -1;  // the replica that does
};
Given given;

/// Another group that has memory to give.
class WithMemory final : public Group {
 public:
  WithMemory(std::unique_ptr<Group> group, int rank) : group_(std::move(group)), rank_(rank) {}

  Ticket start(at::Tensor tensor, Collective op) override {
    if (op == Collective::sum) {
      const std::lock_guard lock(given.mutex);
      given.exchanged.insert(tensor.storage().data());
    }
    return group_->start(std::move(tensor), op);
  }
  bool progress() override { return group_->progress(); }
  void wait(Ticket ticket) override { group_->wait(ticket); }
  at::Tensor memory(int64_t count, at::ScalarType type) override {
    if (given.refuses == rank_) return {};
    at::Tensor tensor = at::full({count}, 7, type);
    const std::lock_guard lock(given.mutex);
    given.memory.insert(tensor.storage().data());
    return tensor;
  }
  std::string memoryText() const override { return given.refuses == rank_ ? "refused" : "given"; }

 private:
  std::unique_ptr<Group> group_;
  int rank_;
};

std::vector<std::unique_ptr<Group>> makeWithMemory(const GroupOptions& options) {
  std::vector<std::unique_ptr<Group>> groups = find(allReduces(), "ring", "all-reduce").make(options);
  for (size_t rank = 0; rank < groups.size(); ++rank) {
    groups[rank] = std::make_unique<WithMemory>(std::move(groups[rank]), static_cast<int>(rank));
  }
  return groups;
}

/// After training of three replicas in bf16, which has two segments.
struct Seen {
  std::string text;
  std::vector<FlatBuffers> buffers;
};

Seen trained(const SyntheticRun& run) {
  AllReduceEntry row = find(allReduces(), "ring", "all-reduce");
  row.makeSpanning = makeWithMemory;
  const auto devices = cpuDevices(run.replicas);
  Monitor monitor(true);
  const auto strategy = run.strategy->make(
      {.devices = pointersTo(devices),
       .monitor = &monitor,
       .allReduce = &row,
       .buckets = {500},
       .parameterDevice = "cpu",
       .precision = &precisionOf(run),
       .format = at::MemoryFormat::ChannelsLast,
       .makeOptimizer = [run](FlatBuffers& buffers) { return makeOptimizer(buffers, run.optimizer); }});
  std::vector<std::optional<FlatBuffers>> all(static_cast<size_t>(run.replicas));
  runReplicas(run.replicas, monitor, [&](int rank) {
    FlatBuffers& buffers = all[static_cast<size_t>(rank)].emplace(syntheticBuffers(run));
    for (int i = 0; i < buffers.parameters(); ++i) {
      buffers.masterView(i).copy_(initialOf(i, buffers.slice(i).count()).view(buffers.masterView(i).sizes()));
    }
    buffers.refreshWeights();
    const auto optimizer = makeOptimizer(buffers, run.optimizer);
    trainReplica(run, *strategy, {rank, devices[static_cast<size_t>(rank)], buffers, *optimizer, nullptr});
  });
  Seen seen{strategy->exchangeMemory(), {}};
  for (auto& buffers : all) seen.buffers.push_back(*buffers);
  return seen;
}

class ExchangeMemory : public testing::Test {
 protected:
  ExchangeMemory() {
    given.memory.clear(), given.exchanged.clear();
    given.refuses = -1;
    run_.strategy = &find(strategies(), "replicated", "strategy");
    run_.precision = "bf16", run_.replicas = 3;
  }
  SyntheticRun run_;
};

TEST_F(ExchangeMemory, GradientsLieInItAndAreExchangedFromIt) {
  const Seen seen = trained(run_);
  EXPECT_EQ(seen.text, "given");
  EXPECT_EQ(given.memory.size(), 6U) << "two segments of three replicas";
  EXPECT_EQ(given.exchanged, given.memory);
}

TEST_F(ExchangeMemory, TheUpdateIsTheSame) {
  const Seen seen = trained(run_);
  run_.allReduce = "ring";
  const auto plain = train(run_);
  for (int segment = 0; segment < plain[0]->segments(); ++segment) {
    const Slice whole = plain[0]->whole(segment);
    for (const FlatBuffers& buffers : seen.buffers) {
      EXPECT_TRUE(at::equal(buffers.master(whole), plain[0]->master(whole)));
    }
  }
}

TEST_F(ExchangeMemory, ARefusalIsToldAndTheOthersStillExchange) {
  given.refuses = 1;
  const Seen seen = trained(run_);
  EXPECT_EQ(seen.text, "given; refused");
  EXPECT_EQ(given.memory.size(), 4U);
  EXPECT_EQ(given.exchanged.size(), 6U);
  EXPECT_TRUE(std::ranges::includes(given.exchanged, given.memory));
}

TEST_F(ExchangeMemory, WithoutMemoryOfTheGroupThereIsNothingToTell) {
  const auto devices = cpuDevices(2);
  Monitor monitor(true);
  run_.allReduce = "ring", run_.replicas = 2;
  EXPECT_EQ(makeStrategy(run_, devices, monitor)->exchangeMemory(), "");
}

}  // namespace
}  // namespace tandem

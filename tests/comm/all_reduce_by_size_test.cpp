#include "comm/all_reduce_by_size.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/catalog.h"
#include "base/error.h"
#include "support/run_ranks.h"
#include "support/run_replicas.h"

namespace tandem {
namespace {

const AllReduceEntry* row(std::string_view name) { return &find(allReduces(), name, "all-reduce"); }

TEST(AllReduceBySize, OfATensorIsTheFirstWhoseSizeItDoesNotExceed) {
  const AllReduceBySize three({row("tree"), row("copy"), row("ring")}, {100, 32 << 10});
  for (const auto& [bytes, name] :
       {std::pair{0, "tree"}, {100, "tree"}, {101, "copy"}, {32 << 10, "copy"}, {(32 << 10) + 1, "ring"}}) {
    EXPECT_EQ(three.of(bytes).name, name) << bytes;
  }
  EXPECT_EQ(three.text(), "tree up to 100 B, copy up to 32 KiB, ring above");
  EXPECT_EQ(three.optionValue(), "tree:100:copy:32768:ring");
  EXPECT_EQ(three.textFor(std::vector<int64_t>{7, 100, 5000, 1 << 20}),
            "tree for 2 of up to 100 B, copy for 1 of up to 32 KiB, ring for 1 larger");
}

TEST(AllReduceBySize, OneSumsAll) {
  const AllReduceBySize one(row("ring"));
  EXPECT_EQ(one.of(1).name, "ring");
  EXPECT_EQ(one.of(int64_t{1} << 40).name, "ring");
  EXPECT_EQ(one.text(), "ring");
  EXPECT_EQ(one.optionValue(), "ring");
  EXPECT_EQ(one.textFor(std::vector<int64_t>{1, 2}), "ring");
  EXPECT_THROW(AllReduceBySize().of(1), InternalError);
  EXPECT_THROW(AllReduceBySize({row("ring"), row("tree")}, {}), InternalError);
  EXPECT_THROW(AllReduceBySize({row("ring"), row("tree"), row("copy")}, {5, 5}), InternalError);
}

TEST(AllReduceBySize, HasWhatAllOfItsRowsHave) {
  EXPECT_TRUE(AllReduceBySize(row("nccl")).all(&AllReduceEntry::enqueuesOnly));
  EXPECT_FALSE(AllReduceBySize({row("ring"), row("nccl")}, {5}).all(&AllReduceEntry::enqueuesOnly));
  EXPECT_TRUE(AllReduceBySize({row("ring"), row("nccl")}, {5}).all(&AllReduceEntry::onCuda));
  EXPECT_TRUE(AllReduceBySize({row("ring"), row("owner")}, {5}).ownersUpdate());
  EXPECT_FALSE(AllReduceBySize(row("ring")).ownersUpdate());
}

// Operation i of replica r: values r + i, of a size that grows and falls; every third one is a broadcast or a gather.
void exchangeMany(Group& group, int number, int all, int placeInGather) {
  constexpr int operations = 90;
  std::vector<at::Tensor> tensors;
  std::vector<Ticket> tickets;
  const auto opOf = [](int i) {
    return i % 9 == 4 ? Collective::broadcast : i % 9 == 7 ? Collective::gather : Collective::sum;
  };
  for (int i = 0; i < operations; ++i) {
    const int64_t count = (1 + i * 37 % 50) * all;
    tensors.push_back(at::full({count}, number + i, at::kFloat));
    if (opOf(i) == Collective::gather) partOf(tensors.back(), all, placeInGather).fill_(number + i);
    tickets.push_back(group.start(tensors.back(), opOf(i)));
    if (i % 4 == 0) group.progress();
    if (i % 30 == 29) group.wait(tickets[static_cast<size_t>(i)]);
  }
  for (int i = operations - 1; i >= 0; --i) group.wait(tickets[static_cast<size_t>(i)]);
  EXPECT_TRUE(group.progress());
  for (const Ticket ticket : tickets) group.wait(ticket);  // again, after all have ended
  for (int i = 0; i < operations; ++i) {
    const at::Tensor& tensor = tensors[static_cast<size_t>(i)];
    const int sum = all * (all - 1) / 2 + all * i;
    if (opOf(i) == Collective::gather) {
      EXPECT_EQ(tensor.sum().item<float>(), static_cast<float>(tensor.numel()) / all * sum) << i;
    } else {
      EXPECT_TRUE(tensor.eq(opOf(i) == Collective::sum ? sum : i).all().item<bool>()) << i;
    }
  }
}

AllReduceBySize twoRows() { return {{row("tree"), row("hierarchical")}, {400}}; }

TEST(GroupBySize, SumsWithEachGroupInAnyOrderOfWaiting) {
  for (const int replicas : {1, 2, 4}) {
    const auto devices = cpuDevices(replicas);
    Monitor monitor(true);
    const auto groups = twoRows().make({pointersTo(devices), &monitor});
    runReplicas(replicas, monitor, [&](int rank) { exchangeMany(*groups[rank], rank, replicas, rank); });
  }
}

TEST(GroupBySize, SumsAcrossRanks) {
  runRanks(2, [](World& world) {
    const auto devices = cpuDevices(2);
    Monitor monitor(true);
    const auto groups = twoRows().make({pointersTo(devices), &monitor, &world});
    const int rank = world.place().rank;
    runReplicas(2, monitor, [&](int i) { exchangeMany(*groups[i], 2 * rank + i, 4, 2 * i + rank); });
  });
}

/// A group that has memory of its own.
class WithMemory final : public Group {
 public:
  Ticket start(at::Tensor, Collective) override { return next_++; }
  bool progress() override { return true; }
  void wait(Ticket) override {}
  at::Tensor memory(int64_t count, at::ScalarType type) override { return at::full({count}, 3, type); }
  std::string memoryText() const override { return "given"; }

 private:
  Ticket next_ = 0;
};

std::vector<std::unique_ptr<Group>> makeWithMemory(const GroupOptions&) {
  std::vector<std::unique_ptr<Group>> one;
  one.push_back(std::make_unique<WithMemory>());
  return one;
}

TEST(GroupBySize, HasTheMemoryOfTheGroupThatHasSome) {
  AllReduceEntry spanning = *row("ring");
  spanning.makeSpanning = makeWithMemory;
  const auto devices = cpuDevices(1);
  Monitor monitor(true);
  const auto groups = AllReduceBySize({row("tree"), &spanning}, {400}).make({pointersTo(devices), &monitor});
  EXPECT_TRUE(groups[0]->memory(5, at::kHalf).eq(3).all().item<bool>());
  EXPECT_EQ(groups[0]->memoryText(), "given");
  const auto without = twoRows().make({pointersTo(devices), &monitor});
  EXPECT_FALSE(without[0]->memory(5, at::kHalf).defined());
  EXPECT_EQ(without[0]->memoryText(), "");
}

}  // namespace
}  // namespace tandem

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/catalog.h"
#include "comm/group.h"
#include "comm/local/local_reduce.h"
#include "support/run_replicas.h"

namespace tandem {
namespace {

struct Case {
  int replicas;
  int64_t count;
  at::ScalarType type;
  bool block;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int replicas : {1, 2, 3, 4, 5}) {
    for (const int64_t count : {1, 7, 1000, 65537}) {
      for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
        for (const bool block : {false, true}) all.push_back({replicas, count, type, block});
      }
    }
  }
  return all;
}

at::Tensor inputOf(int rank, int64_t count, at::ScalarType type, int64_t salt = 0) {
  const at::Tensor index = at::arange(count, at::kDouble);
  return at::sin(index * 0.37 + rank * 1.7 + static_cast<double>(salt)).to(type);
}

at::Tensor exactSum(int replicas, int64_t count, at::ScalarType type, int64_t salt = 0) {
  at::Tensor sum = at::zeros({count}, at::kDouble);
  for (int rank = 0; rank < replicas; ++rank) sum += inputOf(rank, count, type, salt).to(at::kDouble);
  return sum;
}

// Terms are at most 1, and a value is rounded to the wire type at most n times on its way, partial sums being below n.
double tolerance(int replicas, at::ScalarType type) {
  const double unit = type == at::kFloat ? 0x1p-24 : type == at::kHalf ? 0x1p-12 : 0x1p-9;
  return replicas * replicas * unit;
}

class OnCpu : public testing::TestWithParam<AllReduceEntry> {
 protected:
  static std::vector<at::Tensor> run(const Case& c, Collective op) {
    const auto devices = cpuDevices(c.replicas);
    Monitor monitor(c.block);
    const auto groups = GetParam().make({pointersTo(devices), &monitor});
    std::vector<at::Tensor> tensors(c.replicas);
    runReplicas(c.replicas, monitor, [&](int rank) {
      tensors[rank] = inputOf(rank, c.count, c.type);
      groups[rank]->wait(groups[rank]->start(tensors[rank], op));
    });
    return tensors;
  }
};

TEST_P(OnCpu, SumsAndAllReplicasHoldTheSameBits) {
  for (const Case& c : cases()) {
    const auto results = run(c, Collective::sum);
    const double error =
        (results[0].to(at::kDouble) - exactSum(c.replicas, c.count, c.type)).abs().max().item<double>();
    EXPECT_LE(error, tolerance(c.replicas, c.type)) << c.replicas << " replicas, " << c.count << " elements";
    for (const at::Tensor& result : results) ASSERT_TRUE(at::equal(result, results[0])) << c.replicas << ' ' << c.count;
  }
}

TEST_P(OnCpu, BroadcastsReplicaZero) {
  for (const Case& c : cases()) {
    for (const at::Tensor& result : run(c, Collective::broadcast)) {
      ASSERT_TRUE(at::equal(result, inputOf(0, c.count, c.type))) << c.replicas << " replicas, " << c.count;
    }
  }
}

TEST_P(OnCpu, GathersThePartOfEachReplica) {
  for (const int replicas : {1, 2, 3, 5}) {
    for (const int64_t count : {0, 1, 999}) {
      const auto devices = cpuDevices(replicas);
      Monitor monitor(true);
      const auto groups = GetParam().make({pointersTo(devices), &monitor});
      const auto ofRank = [&](int rank) { return (at::arange(count) + 7 * rank).to(at::kByte); };
      std::vector<at::Tensor> all;
      for (int rank = 0; rank < replicas; ++rank) all.push_back(ofRank(rank));
      const at::Tensor expected = at::cat(all);
      runReplicas(replicas, monitor, [&](int rank) {
        at::Tensor tensor = at::full({replicas * count}, 255, at::kByte);
        for (int round = 0; round < 3; ++round) {
          partOf(tensor, replicas, rank).copy_(ofRank(rank));
          groups[rank]->wait(groups[rank]->start(tensor, Collective::gather));
          ASSERT_TRUE(at::equal(tensor, expected)) << replicas << " replicas, " << count << " bytes";
          tensor.fill_(255);
        }
      });
    }
  }
}

TEST_P(OnCpu, ManyInFlightFinishInAnyOrderOfWaiting) {
  constexpr int replicas = 3, operations = 200;  // more than the ring of slots holds
  const auto devices = cpuDevices(replicas);
  Monitor monitor(true);
  const auto groups = GetParam().make({pointersTo(devices), &monitor});
  runReplicas(replicas, monitor, [&](int rank) {
    std::vector<at::Tensor> tensors;
    std::vector<Ticket> tickets;
    for (int i = 0; i < operations; ++i) {
      tensors.push_back(inputOf(rank, 10 + i, at::kFloat, i));
      tickets.push_back(groups[rank]->start(tensors.back(), i % 10 == 9 ? Collective::broadcast : Collective::sum));
      groups[rank]->progress();
    }
    for (const int i : {operations / 2, 3, operations - 1}) groups[rank]->wait(tickets[i]);
    EXPECT_TRUE(groups[rank]->progress());
    for (int i = 0; i < operations; ++i) {
      const at::Tensor expected =
          i % 10 == 9 ? inputOf(0, 10 + i, at::kFloat, i).to(at::kDouble) : exactSum(replicas, 10 + i, at::kFloat, i);
      EXPECT_LE((tensors[i].to(at::kDouble) - expected).abs().max().item<double>(), tolerance(replicas, at::kFloat));
    }
  });
}

TEST_P(OnCpu, ATensorMayBeOverwrittenRightAfterItsWait) {
  for (const bool block : {false, true}) {
    constexpr int replicas = 4, rounds = 1000, count = 257;
    const auto devices = cpuDevices(replicas);
    Monitor monitor(block);
    const auto groups = GetParam().make({pointersTo(devices), &monitor});
    runReplicas(replicas, monitor, [&](int rank) {
      const at::Tensor tensor = at::empty({count}, at::kFloat);
      for (int round = 0; round < rounds; ++round) {
        tensor.fill_(static_cast<float>(rank + round));
        groups[rank]->wait(groups[rank]->start(tensor, Collective::sum));
        const int sumOfRanks = replicas * (replicas - 1) / 2;
        const auto expected = static_cast<float>(replicas * round + sumOfRanks);
        ASSERT_TRUE(at::equal(tensor, at::full({count}, expected))) << "round " << round;
      }
    });
  }
}

TEST_P(OnCpu, AnAbortFreesEveryReplicaThatWaits) {
  for (const bool block : {false, true}) {
    constexpr int replicas = 4;
    const auto devices = cpuDevices(replicas);
    Monitor monitor(block);
    const auto groups = GetParam().make({pointersTo(devices), &monitor});
    std::vector<std::string> told(replicas);
    runReplicas(replicas, monitor, [&](int rank) {
      if (rank == 2) return monitor.abort("replica 2: out of memory");
      const Ticket ticket = groups[rank]->start(inputOf(rank, 100, at::kFloat), Collective::sum);
      try {
        groups[rank]->wait(ticket);
      } catch (const PeerError& failure) {
        told[rank] = failure.what();
      }
    });
    for (const int rank : {0, 1, 3}) EXPECT_EQ(told[rank], "replica 2: out of memory");
  }
}

TEST_P(OnCpu, TensorsOfDifferentSizeAreABug) {
  const auto devices = cpuDevices(2);
  Monitor monitor(true);
  const auto groups = GetParam().make({pointersTo(devices), &monitor});
  const auto exchange = [&](int rank) {
    groups[rank]->wait(groups[rank]->start(at::ones({100 + rank}), Collective::sum));
  };
  EXPECT_ANY_THROW(runReplicas(2, monitor, exchange));
}

std::vector<AllReduceEntry> cpuRows() {
  std::vector<AllReduceEntry> rows;
  for (const AllReduceEntry& row : allReduces()) {
    if (row.onCpu) rows.push_back(row);
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Catalog, OnCpu, testing::ValuesIn(cpuRows()),
                         [](const auto& info) { return std::string(info.param.name); });

// Groups are those of NUMA nodes, on which replicas lie in turn: of five on two nodes three and two.
TEST(Hierarchical, SumsOverGroupsOfAnyNumberAndSize) {
  const AllReduceEntry& row = find(allReduces(), "hierarchical", "all-reduce");
  for (const auto& [replicas, nodes] : {std::pair{4, 2}, {5, 2}, {5, 3}, {6, 3}, {7, 3}, {8, 4}}) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
      for (const int64_t count : {1, 100, 4099}) {
        const auto devices = cpuDevices(replicas, nodes);
        Monitor monitor(true);
        const auto groups = row.make({pointersTo(devices), &monitor});
        std::vector<at::Tensor> tensors(replicas);
        runReplicas(replicas, monitor, [&](int rank) {
          for (int round = 0; round < 20; ++round) {
            tensors[rank] = inputOf(rank, count, type);
            groups[rank]->wait(groups[rank]->start(tensors[rank], Collective::sum));
          }
        });
        const at::Tensor difference = tensors[0].to(at::kDouble) - exactSum(replicas, count, type);
        EXPECT_LE(difference.abs().max().item<double>(), tolerance(replicas, type)) << replicas << ' ' << nodes;
        for (const at::Tensor& tensor : tensors) ASSERT_TRUE(at::equal(tensor, tensors[0])) << replicas << ' ' << nodes;
      }
    }
  }
}

// What arrives at all replicas together: 2 (n - 1) tensors, the least for point-to-point copies.
TEST(Traffic, OfEveryRowIsTwoTensorsPerReplicaButOne) {
  for (const AllReduceEntry& row : allReduces()) {
    EXPECT_EQ(row.receivedBytes(1000, 1), 0) << row.name;
    EXPECT_DOUBLE_EQ(row.receivedBytes(1000, 4), 1500) << row.name;
    EXPECT_EQ(row.messages(1, 1), 0) << row.name;
    EXPECT_GT(row.messages(2, 2), 0) << row.name;
  }
  EXPECT_DOUBLE_EQ(find(allReduces(), "ring", "all-reduce").messages(4, 2), 6);
  EXPECT_DOUBLE_EQ(find(allReduces(), "tree", "all-reduce").messages(4, 2), 1.5);
}

TEST(Traffic, OfTwoLevelsIsWithinGroupsAndBetweenThem) {
  const AllReduceEntry& row = find(allReduces(), "hierarchical", "all-reduce");
  EXPECT_DOUBLE_EQ(row.messages(8, 2), 2 * 3 + 2 * 1);
  EXPECT_DOUBLE_EQ(row.messages(8, 4), 2 * 1 + 2 * 3);
  EXPECT_DOUBLE_EQ(row.messages(3, 2), (2 * 2 + 2 * 4) / 3.0) << "two chunks; the replica that is alone owns both";
}

// Of three replicas two fold: half a tensor each, and the other half to the one that goes on. It and the third
// exchange.
TEST(Traffic, OfHalvingAndDoublingCountsThoseBeyondAPowerOfTwo) {
  const AllReduceEntry& row = find(allReduces(), "halving_doubling", "all-reduce");
  EXPECT_DOUBLE_EQ(row.receivedBytes(1000, 8), 1750);
  EXPECT_DOUBLE_EQ(row.messages(8, 2), 6);
  EXPECT_DOUBLE_EQ(row.receivedBytes(1000, 3), (1500 + 1000 + 2 * 1000) / 3.0);
  EXPECT_DOUBLE_EQ(row.messages(3, 2), (3 + 1 + 2 * 2) / 3.0);
}

TEST(Nccl, IsAKnownNameThatRefusesCpuDevices) {
  const AllReduceEntry& nccl = find(allReduces(), "nccl", "all-reduce");
  EXPECT_FALSE(nccl.onCpu);
  const auto devices = cpuDevices(2);
  Monitor monitor(true);
  EXPECT_THROW(nccl.make({pointersTo(devices), &monitor}), UsageError);
}

}  // namespace
}  // namespace tandem

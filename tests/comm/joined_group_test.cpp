#include "comm/joined_group.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

#include "base/catalog.h"
#include "comm/all_reduce_by_size.h"
#include "support/run_ranks.h"
#include "support/run_replicas.h"
#include "trace/flight_recorder.h"

namespace tandem {
namespace {

struct Shape {
  const AllReduceEntry& allReduce;
  int ranks, replicas;
};

/// Runs body(group, place) for each replica of each rank. A size of 1: without a world.
void eachReplica(const Shape& shape, const std::function<void(Group&, JoinedPlace, int number)>& body) {
  const int ranks = shape.ranks, replicas = shape.replicas;
  const auto ofProcess = [&](World* world) {
    const auto devices = cpuDevices(replicas);
    Monitor monitor(true);
    const auto groups = shape.allReduce.make({pointersTo(devices), &monitor, world});
    runReplicas(replicas, monitor, [&](int index) {
      const int number = (world == nullptr ? 0 : world->place().rank) * replicas + index;
      body(*groups[static_cast<size_t>(index)], joinedPlace(index, replicas, world), number);
    });
  };
  if (ranks == 1) return ofProcess(nullptr);
  runRanks(ranks, [&](World& world) { ofProcess(&world); });
}

class AcrossRanks : public testing::TestWithParam<AllReduceEntry> {};

TEST_P(AcrossRanks, SumsBroadcastsAndGathersOverAllReplicas) {
  constexpr int64_t count = 101;
  const bool every = GetParam().name == "ring" || GetParam().halves != nullptr;
  for (const int ranks : every ? std::vector<int>{1, 2, 3} : std::vector<int>{2}) {
    for (const int replicas : every ? std::vector<int>{1, 2, 3, 4} : std::vector<int>{2}) {
      const int all = ranks * replicas;
      eachReplica({GetParam(), ranks, replicas}, [&](Group& group, JoinedPlace place, int number) {
        ASSERT_EQ(place.size, all);
        std::vector<at::Tensor> tensors;
        std::vector<Ticket> tickets;
        for (int i = 0; i < 12; ++i) {
          const auto op = static_cast<Collective>(i % 3);
          tensors.push_back(op == Collective::gather ? at::zeros({all * count})
                                                     : at::full({count}, number + i, at::kFloat));
          if (op == Collective::gather) partOf(tensors.back(), all, place.index).fill_(number + i);
          tickets.push_back(group.start(tensors.back(), op));
        }
        for (int i = 11; i >= 0; --i) group.wait(tickets[i]);
        EXPECT_TRUE(group.progress());
        for (int i = 0; i < 12; ++i) {
          const auto op = static_cast<Collective>(i % 3);
          const int told = op == Collective::sum ? all * (all - 1) / 2 + all * i : i;
          if (op != Collective::gather) {
            EXPECT_TRUE(tensors[i].eq(told).all().item<bool>()) << ranks << ' ' << replicas;
            continue;
          }
          for (int rank = 0; rank < ranks; ++rank) {
            for (int replica = 0; replica < replicas; ++replica) {
              const at::Tensor part = partOf(tensors[i], all, replica * ranks + rank);
              EXPECT_TRUE(part.eq(rank * replicas + replica + i).all().item<bool>()) << ranks << ' ' << replicas;
            }
          }
        }
      });
    }
  }
}

std::vector<AllReduceEntry> cpuRows() {
  std::vector<AllReduceEntry> rows;
  for (const AllReduceEntry& row : allReduces()) {
    if (row.onCpu) rows.push_back(row);
  }
  return rows;
}

// Slices leave when the process has summed them, whole tensors could leave at once. On all ranks they leave in the
// order of their start, by which collectives between ranks are counted and compared. Here one replica comes late.
TEST(JoinedGroup, OperationsGoBetweenRanksInTheOrderOfTheirStart) {
  constexpr int replicas = 2, operations = 12;
  const auto row = [](std::string_view name) { return &find(allReduces(), name, "all-reduce"); };
  const AllReduceBySize bySize({row("ring"), row("hierarchical")}, {400});
  std::array<std::array<std::string, replicas>, 2> collectives;
  runRanks(2, [&](World& world) {
    const auto devices = cpuDevices(replicas);
    const auto rank = static_cast<size_t>(world.place().rank);
    Monitor monitor(true);
    const auto groups = bySize.make({pointersTo(devices), &monitor, &world});
    runReplicas(replicas, monitor, [&](int index) {
      FlightSlot slot;
      FlightLog log(slot, std::nullopt);
      threadFlight = &log;
      if (rank == 1 && index == 1) std::this_thread::sleep_for(std::chrono::milliseconds(30));
      Group& group = *groups[static_cast<size_t>(index)];
      std::vector<at::Tensor> tensors;
      std::vector<Ticket> tickets;
      for (int i = 0; i < operations; ++i) {
        tensors.push_back(at::ones({i % 2 == 0 ? 1000 : 50 + i}));
        tickets.push_back(group.start(tensors.back(), Collective::sum));
        group.progress();
      }
      for (const Ticket ticket : tickets) group.wait(ticket);
      threadFlight = nullptr;
      for (const at::Tensor& tensor : tensors) EXPECT_TRUE(tensor.eq(4).all().item<bool>());
      collectives[rank][static_cast<size_t>(index)] = log.collectives();
    });
  });
  EXPECT_EQ(collectives[0], collectives[1]);
}

INSTANTIATE_TEST_SUITE_P(Catalog, AcrossRanks, testing::ValuesIn(cpuRows()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tandem

#include "machine/cpu/topology.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <thread>

#include "base/error.h"

namespace tandem {
namespace {

using Groups = std::vector<std::vector<int>>;

// Core i has threads i, i + cores, ... as Linux numbers them.
Topology machine(int cores, int threadsPerCore, int nodes = 1) {
  Topology topology;
  for (int i = 0; i < cores; ++i) {
    Core core{i, i * nodes / cores, {}};
    for (int t = 0; t < threadsPerCore; ++t) core.threads.push_back(i + t * cores);
    topology.cores.push_back(core);
  }
  return topology;
}

std::string refusal(const Topology& topology, int64_t replicas, int64_t each) {
  try {
    planCores(topology, replicas, each, false);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PlanCores, DividesTheCoresByDefault) {
  EXPECT_EQ(planCores(machine(2, 1), 1, 0, false).threadsOf, (Groups{{0, 1}}));
  EXPECT_EQ(planCores(machine(2, 1), 2, 0, false).threadsOf, (Groups{{0}, {1}}));
  EXPECT_EQ(planCores(machine(5, 1), 2, 0, false).threadsOf, (Groups{{0, 1}, {2, 3}}));
}

TEST(ReplicasApart, AreAsManyAsHaveCoresOfTheirOwn) {
  using Numbers = std::vector<size_t>;
  EXPECT_EQ(replicasApart(planCores(machine(4, 1), 2, 2, false)), (Numbers{0, 1}));
  EXPECT_EQ(replicasApart(planCores(machine(2, 1), 5, 1, true)), (Numbers{0, 1}));
  EXPECT_EQ(replicasApart(planCores(machine(2, 1), 3, 2, true)), Numbers{0});
  EXPECT_EQ(replicasApart(planCores(machine(3, 1), 3, 2, true)), Numbers{0}) << "the second has one core of the first";
}

TEST(PlanCores, KeepsTheNumberOfCoresAskedFor) {
  const CorePlan plan = planCores(machine(4, 1), 1, 2, false);
  EXPECT_EQ(plan.threadsOf, (Groups{{0, 1}}));
  EXPECT_EQ(plan.threadsPerReplica, 2);
  EXPECT_EQ(plan.unit, "core");
  EXPECT_FALSE(plan.shared);
}

TEST(PlanCores, TakesOneThreadPerCoreWhileThereAreEnoughCores) {
  const CorePlan plan = planCores(machine(4, 2), 4, 0, false);
  EXPECT_EQ(plan.threadsOf, (Groups{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(plan.unit, "core");
}

TEST(PlanCores, TakesHardwareThreadsOnlyWithFewerCoresThanReplicas) {
  const CorePlan plan = planCores(machine(4, 2), 8, 0, false);
  EXPECT_EQ(plan.threadsOf, (Groups{{0}, {4}, {1}, {5}, {2}, {6}, {3}, {7}}));
  EXPECT_EQ(plan.unit, "hardware thread");
  EXPECT_FALSE(plan.shared);
}

TEST(PlanCores, DoesNotStraddleNodesWhenItNeedNot) {
  EXPECT_EQ(planCores(machine(6, 1, 2), 2, 2, false).threadsOf, (Groups{{0, 1}, {3, 4}}));
  EXPECT_EQ(planCores(machine(6, 1, 2), 3, 2, false).threadsOf, (Groups{{0, 1}, {2, 3}, {4, 5}}));
}

TEST(PlanCores, KnowsTheNodeOfEachReplica) {
  EXPECT_EQ(planCores(machine(6, 1, 2), 2, 2, false).nodeOf, (std::vector<int>{0, 1}));
  EXPECT_EQ(planCores(machine(4, 2, 2), 8, 0, false).nodeOf, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(planCores(machine(2, 1, 2), 3, 1, true).nodeOf, (std::vector<int>{0, 1, 0}));
}

TEST(PlanCores, KnowsTheCacheOfEachReplica) {
  Topology machine4 = machine(4, 2);
  for (Core& core : machine4.cores) core.cache = core.index / 2;
  const CorePlan plan = planCores(machine4, 4, 1, false);
  EXPECT_EQ(plan.cacheOf, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(chosenCores(plan, std::vector<int>{3, 0}).cacheOf, (std::vector<int>{1, 0}));
  for (const Core& core : readTopology().cores) EXPECT_GE(core.cache, 0);
}

TEST(PlanCores, RefusesWhatDoesNotFitAndSaysWhy) {
  EXPECT_EQ(refusal(machine(2, 1), 3, 0),
            "--replicas=3: only 2 cores are usable here; lower it or add --oversubscribe (replicas then share cores)");
  EXPECT_EQ(refusal(machine(1, 1), 2, 1),
            "--replicas=2: only 1 core is usable here; lower it or add --oversubscribe (replicas then share cores)");
  EXPECT_EQ(
      refusal(machine(4, 2), 9, 0),
      "--replicas=9: only 8 hardware threads are usable here; lower it or add --oversubscribe (replicas then share "
      "cores)");
  EXPECT_EQ(refusal(machine(2, 1), 2, 2),
            "--replicas=2 with --cores-per-replica=2 need 4 cores: only 2 cores are usable here; lower one of them or "
            "add --oversubscribe (replicas then share cores)");
  EXPECT_EQ(refusal(machine(2, 1), 0, 0), "--replicas=0: must be 1 or more");
}

TEST(PlanCores, OversubscribedReplicasShareCoresInTurn) {
  const CorePlan plan = planCores(machine(2, 1), 4, 1, true);
  EXPECT_EQ(plan.threadsOf, (Groups{{0}, {1}, {0}, {1}}));
  EXPECT_TRUE(plan.shared);
  EXPECT_EQ(planCores(machine(2, 1), 2, 2, true).threadsOf, (Groups{{0, 1}, {0, 1}}));
  EXPECT_EQ(planCores(machine(2, 1), 3, 5, true).threadsPerReplica, 2);
  EXPECT_FALSE(planCores(machine(2, 1), 2, 1, true).shared) << "nothing is shared when there is room";
}

TEST(ChosenCores, AreThoseOfTheIndices) {
  const CorePlan all = planCores(machine(6, 1, 2), 3, 2, false);
  const std::vector<int> indices{2, 0};
  const CorePlan chosen = chosenCores(all, indices);
  EXPECT_EQ(chosen.threadsOf, (Groups{{4, 5}, {0, 1}}));
  EXPECT_EQ(chosen.nodeOf, (std::vector<int>{1, 0}));
  EXPECT_EQ(chosen.threadsPerReplica, 2);
}

// What the machine is a process reads once. So the checks of another machine run in a process of their own.
template <typename Checks>
void onAnotherMachine(Checks checks) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("HWLOC_SYNTHETIC", "package:2 [numa] l3:2 l2:2 core:2 pu:1", 1);
        checks();
        std::_Exit(testing::Test::HasFailure());
      },
      testing::ExitedWithCode(0), "");
}

TEST(SharedBy, IsTheSmallestPartOfTheMachineThatHoldsAll) {
  const std::vector<std::pair<Groups, std::string>> cases{{{{0}}, "core"},           {{{0}, {1}}, "L2"},
                                                          {{{0}, {2}}, "L3"},        {{{0, 1}, {2, 3}}, "L3"},
                                                          {{{3}, {4}}, "NUMA node"}, {{{7}, {8}}, "machine"}};
  onAnotherMachine([&] {
    for (const auto& [groups, part] : cases) EXPECT_EQ(sharedBy(groups), part);
  });
}

TEST(SharedByPairs, HasTheSmallestPartOfEachTwo) {
  const std::vector<int> threads{0, 1, 5, 8};
  const std::vector<std::vector<std::string>> expected{{"core", "L2", "NUMA node", "machine"},
                                                       {"L2", "core", "NUMA node", "machine"},
                                                       {"NUMA node", "NUMA node", "core", "machine"},
                                                       {"machine", "machine", "machine", "core"}};
  onAnotherMachine([&] { EXPECT_EQ(sharedByPairs(threads), expected); });
}

TEST(CapCores, KeepsWholeCoresBeforeSecondThreads) {
  const auto cores = machine(4, 2).cores;
  EXPECT_EQ(capCores(cores, 0).size(), 4U);
  EXPECT_EQ(capCores(cores, 2.9).size(), 2U);
  EXPECT_EQ(capCores(cores, 2.9)[0].threads.size(), 1U);
  EXPECT_EQ(capCores(cores, 0.5).size(), 1U);
  const auto five = capCores(cores, 5);
  ASSERT_EQ(five.size(), 4U);
  EXPECT_EQ(five[0].threads.size(), 2U);
  EXPECT_EQ(five[1].threads.size(), 1U);
}

TEST(ReadTopology, ShowsOnlyWhatThisProcessMayUse) {
  const Topology topology = readTopology();
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  ASSERT_FALSE(topology.cores.empty());
  for (const Core& core : topology.cores) {
    ASSERT_FALSE(core.threads.empty());
    for (const int thread : core.threads) EXPECT_TRUE(CPU_ISSET(thread, &mask)) << thread;
  }
  EXPECT_GE(topology.sockets, 1);
  EXPECT_GE(topology.hardwareThreads, std::ssize(topology.cores));
}

TEST(PinThread, NarrowsTheMaskOfTheCallingThread) {
  const int wanted = readTopology().cores.back().threads.front();
  std::thread([wanted] {
    pinThread({wanted});
    cpu_set_t mask;
    ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    EXPECT_EQ(CPU_COUNT(&mask), 1);
    EXPECT_TRUE(CPU_ISSET(wanted, &mask));
    EXPECT_THROW(pinThread({8000}), InternalError);
  }).join();
}

}  // namespace
}  // namespace tandem

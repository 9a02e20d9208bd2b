#include "run/plan/kernel_cores.h"

#include <gtest/gtest.h>

#include <set>

#include "run/tiny_config.h"

namespace tandem {
namespace {

int64_t usableCores() { return std::ssize(readTopology().cores); }

RunPlan planFor(int64_t replicas, int64_t kernelReplicas) {
  Config config = tinyConfig();
  config.placement.replicas = replicas, config.placement.coresPerReplica = 1;
  config.numerics.kernelReplicas = kernelReplicas;
  return resolvePlan(config);
}

int64_t distinct(const std::vector<int>& cpus) { return std::ssize(std::set<int>(cpus.begin(), cpus.end())); }

TEST(KernelCores, AreThoseOfThePlansReplicas) {
  const KernelCores cores = kernelCores(planFor(1, 0));
  EXPECT_EQ(cores.devices.size(), 1U);
  EXPECT_EQ(cores.threads, 1);
  EXPECT_EQ(cores.cpus, planFor(1, 0).cores.threadsOf.front());
}

TEST(KernelCores, AreOfAsManyReplicasAsAskedFor) {
  if (usableCores() < 2) GTEST_SKIP() << "two replicas need two cores";
  const KernelCores cores = kernelCores(planFor(1, 2));
  EXPECT_EQ(cores.devices.size(), 2U);
  EXPECT_EQ(cores.threads, 1);
  EXPECT_EQ(distinct(cores.cpus), 2);
  EXPECT_EQ(kernelCores(planFor(2, 1)).devices.size(), 1U) << "fewer than the plan has";
}

TEST(KernelCores, AreNoMoreThanTheMachineHas) {
  const KernelCores cores = kernelCores(planFor(1, 4096));
  EXPECT_LE(std::ssize(cores.devices), usableCores());
  EXPECT_EQ(distinct(cores.cpus), std::ssize(cores.cpus)) << "no two share one";
}

TEST(KernelCores, OfReplicasThatShareCoresSomeCompute) {
  const RunPlan plan = planFor(4 * usableCores() + 1, 0);
  EXPECT_LT(kernelReplicas(plan), plan.config.placement.replicas);
  EXPECT_EQ(std::ssize(kernelCores(plan).devices), kernelReplicas(plan));
}

}  // namespace
}  // namespace tandem

#include "run/plan/cuda_graph_policy.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/text.h"
#include "comm/group.h"
#include "optim/optimizer.h"
#include "train/captured_step.h"

namespace tandem {
namespace {

Config onGpus(int64_t replicas) {
  Config config;
  config.placement.devices = replicas == 1 ? "cuda:0" : "cuda:0+1";
  config.placement.replicas = replicas;
  return config;
}

TEST(CudaGraphPolicy, AStepThatOnlyEnqueuesIsRecordedAsAWhole) {
  for (const int64_t replicas : {1, 2}) {
    for (const char* strategy : {"replicated", "independent"}) {
      Config config = onGpus(replicas);
      config.exchange.strategy = strategy;
      EXPECT_TRUE(cudaGraphPolicy(config, setupOf(config)).on)
          << strategy << ' ' << cudaGraphPolicy(config, setupOf(config)).why;
      EXPECT_EQ(cudaGraphText(config, setupOf(config)), "on");
      config.exchange.overlap = "off";
      EXPECT_EQ(cudaGraphText(config, setupOf(config)), "on");
    }
  }
}

TEST(CudaGraphPolicy, WhatChangesTheUpdateFromStepToStepIsNoObstacle) {
  for (const OptimizerEntry& optimizer : optimizers()) {
    for (const ScheduleEntry& schedule : schedules()) {
      Config config = onGpus(1);
      config.step.optimizer = concat(optimizer.name);
      config.step.schedule = concat(schedule.name);
      config.numerics.cudaGraph = "on";
      EXPECT_EQ(cudaGraphText(config, setupOf(config)), "on") << optimizer.name << ' ' << schedule.name;
    }
  }
}

TEST(CudaGraphPolicy, OneReplicaJoinsNoStatistics) {
  Config config = onGpus(1);
  config.exchange.syncBatchNorm = true;
  EXPECT_TRUE(cudaGraphPolicy(config, setupOf(config)).on);
}

TEST(CudaGraphPolicy, WhereReplicasWaitOnTheHostItIsRecordedInParts) {
  for (const AllReduceEntry& row : allReduces()) {
    if (!row.onCuda || row.enqueuesOnly) continue;
    Config config = onGpus(2);
    config.exchange.allReduce = concat(row.name);
    config.numerics.cudaGraph = "on";
    EXPECT_EQ(cudaGraphText(config, setupOf(config)),
              concat("on, in parts: with --all-reduce=", row.name, " replicas wait for one another on the host"));
    config.exchange.overlap = "off";
    EXPECT_EQ(cudaGraphText(config, setupOf(config)), concat("on, up to the exchange: with --all-reduce=", row.name,
                                                             " replicas wait for one another on the host"));
    config.step.forwardOnly = true;
    EXPECT_EQ(cudaGraphText(config, setupOf(config)), "on") << "nothing is exchanged";
  }
  for (const int64_t replicas : {1, 2}) {
    Config config = onGpus(replicas);
    config.exchange.strategy = concat("parameter_server");
    EXPECT_EQ(cudaGraphText(config, setupOf(config)),
              "on, in parts: with --strategy=parameter_server replicas wait for one another on the host");
  }
}

TEST(CudaGraphPolicy, AProfileIsOfTheStepAsItRunsWithout) {
  Config config = onGpus(1);
  EXPECT_EQ(fewestWarmup(config, setupOf(config)), 0);
  config.measurement.profile = true;
  EXPECT_EQ(cudaGraphText(config, setupOf(config)), "on");
  EXPECT_EQ(fewestWarmup(config, setupOf(config)), CapturedStep::eagerSteps + 1);
  config.numerics.cudaGraph = "off";
  EXPECT_EQ(fewestWarmup(config, setupOf(config)), 0);
}

TEST(CudaGraphPolicy, OffIsOff) {
  Config config = onGpus(1);
  config.numerics.cudaGraph = "off";
  EXPECT_FALSE(cudaGraphPolicy(config, setupOf(config)).on);
  EXPECT_EQ(cudaGraphText(config, setupOf(config)), "off: --cuda-graph=off");
}

TEST(CudaGraphPolicy, OnACpuThereIsNothingToSay) {
  EXPECT_FALSE(cudaGraphPolicy(Config(), setupOf(Config())).on);
  EXPECT_EQ(cudaGraphText(Config(), setupOf(Config())), "");
}

TEST(CudaGraphPolicy, HasARecorderWhereStepsAreRecorded) {
  Config config = onGpus(1);
  EXPECT_TRUE(graphRecorder(config, setupOf(config)));
  config.numerics.cudaGraph = "off";
  EXPECT_FALSE(graphRecorder(config, setupOf(config)));
  EXPECT_FALSE(graphRecorder(Config(), setupOf(Config())));
}

struct Obstacle {
  const char* words;  // of the reason
  std::function<void(Config&)> put;
};

const Obstacle obstacles[] = {
    {"only GPUs have graphs", [](Config& config) { config.placement.devices = "cpu"; }},
    {"--executor=autograd", [](Config& config) { config.numerics.executor = "autograd"; }},
    {"--loss-at=gathered", [](Config& config) { config.exchange.lossAt = "gathered"; }},
    {"--sync-batch-norm", [](Config& config) { config.exchange.syncBatchNorm = true; }},
};

TEST(CudaGraphPolicy, WhatCannotBeRecordedIsNamed) {
  for (const Obstacle& obstacle : obstacles) {
    Config config = onGpus(2);
    obstacle.put(config);
    const CudaGraphPolicy use = cudaGraphPolicy(config, setupOf(config));
    EXPECT_FALSE(use.on) << obstacle.words;
    EXPECT_NE(use.why.find(obstacle.words), std::string::npos) << use.why;
  }
}

}  // namespace
}  // namespace tandem

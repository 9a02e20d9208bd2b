#pragma once

// Batches that processes of the program make of a made data set.

#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/text.h"
#include "run/child/loader_worker.h"
#include "run/tiny_config.h"
#include "run_tandem.h"

namespace tandem {

inline constexpr int imagesMade = 26;

/// A made data set of small JPEG files.
inline std::string madeFolder() {
  const std::string folder = ownFolder() + "/made";
  const auto run = runForked({"data", "make", folder, concat("--images=", imagesMade), "--classes=2", "--size=40x30"});
  EXPECT_EQ(run.code, 0) << run.err;
  return folder;
}

/// Of images of the folder.
inline Config configOf(const std::string& folder, int64_t producers, int64_t replicas) {
  Config config = tinyConfig();
  config.placement.replicas = replicas;
  config.input.data = folder;
  config.input.loader = "processes";
  config.input.producers = producers;
  return config;
}

/// A plan, and the batches that processes of the program make for a replica of it.
struct Made {
  explicit Made(const Config& config, int64_t replica = 0, const char* by = TANDEM_BINARY_DIR "/tandem")
      : plan(resolvePlan(config)), data(trainingData(plan)), batches(batchesByProcesses(plan, replica, 1, data, by)) {}

  HostBatch next() {
    HostBatch batch;
    batches->make(k++, {}, batch);
    return batch;
  }
  /// Whether so many batches are those that a thread makes, bit for bit.
  bool areThoseOfThreads(int64_t replica, int64_t count) {
    const auto maker = batchMaker(plan, replica, 1, trainingData(plan));  // which notes bad images of its own
    for (int64_t i = 0; i < count; ++i) {
      const HostBatch wanted = maker->make(k), batch = next();
      if (!at::equal(batch.images, wanted.images) || !at::equal(batch.labels, wanted.labels)) return false;
    }
    return true;
  }

  RunPlan plan;
  TrainingData data;
  std::unique_ptr<HostBatches> batches;
  int64_t k = 0;
};

/// Those of each replica, in two epochs.
inline void expectBatchesOfThreads(const std::string& folder, int64_t producers, int64_t replicas) {
  for (int64_t replica = 0; replica < replicas; ++replica) {
    Made made(configOf(folder, producers, replicas), replica);
    EXPECT_TRUE(made.areThoseOfThreads(replica, 2 * imagesMade / 4)) << producers << ' ' << replicas << ' ' << replica;
    EXPECT_EQ(std::ssize(made.data.feeders->processes()), producers);
    EXPECT_EQ(made.batches->origin().augment, "imagenet");
  }
}

}  // namespace tandem

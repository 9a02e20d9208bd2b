#pragma once

#include <future>
#include <memory>

#include "base/clock.h"
#include "run/training/checkpoint_folder.h"

namespace tandem {

/// Writes checkpoints and the best weights of a training on a thread beside it, one at a time. For one thread.
class CheckpointKeeper {
 public:
  /// `folder`: never null. `facts`: those that hold for the whole training.
  CheckpointKeeper(std::unique_ptr<CheckpointFolder> folder, CheckpointFacts facts)
      : facts_(std::move(facts)), folder_(std::move(folder)) {}
  /// Waits for what is being written.
  ~CheckpointKeeper();

  /// Begins to write a checkpoint. Waits for what is being written, and throws what failed there.
  void save(TrainingState state, const TrainingRecord& record, nlohmann::json rate);
  /// Likewise the weights, as "best.safetensors".
  void saveBest(StateTensors weights);
  /// Returns when all is on disk. Throws what failed.
  void wait();

  int64_t saved() const { return saved_; }  ///< checkpoints that were begun

 private:
  const CheckpointFacts facts_;
  const std::unique_ptr<CheckpointFolder> folder_;
  std::future<void> writing_;
  int64_t saved_ = 0;
};

}  // namespace tandem

#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "measure/record/training_record.h"
#include "run/training/training_state.h"

namespace tandem {

/// What a checkpoint says beside its tensors.
struct CheckpointFacts {
  int64_t step = 0;                  ///< updates that were made
  nlohmann::json rate = {};          ///< RateControl::state()
  int64_t ranks = 1, replicas = 1;   ///< of each rank
  int64_t batch = 0;                 ///< of all replicas
  nlohmann::json config = {};        ///< all options, as in a record
  std::string data = {};             ///< what the training images are, for comparison: name, number, classes
  std::string program = {};          ///< version and commit
  std::string kernels = {};          ///< by run/plan/kernel_selection_json.h; empty: those of a GPU
  std::vector<int64_t> shares = {};  ///< RunPlan::shares, which --split=measured may have found
  TrainingRecord record = {};        ///< until then
};

struct Checkpoint {
  std::string path;  ///< of its folder
  CheckpointFacts facts;
  TrainingState state;
};

/// The folder of --checkpoint. A checkpoint is a folder in it, "step-000000469": manifest.json, with the sizes and
/// SHA-256 of the other files; state.safetensors, with parameters and optimizer state by the graph's names; and
/// replicas.safetensors, with what each replica alone has. It appears whole or not at all: it is written as
/// "step-000000469.part", each file and the folder are brought to disk, and then it is renamed.
///
/// One training at a time uses a folder. All members throw StorageError that names the path. For one thread at a time.
class CheckpointFolder {
 public:
  /// Makes the folder, locks it, and removes what an interrupted save has left. Throws UsageError if another process
  /// has it.
  CheckpointFolder(std::string path, int64_t keep);
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

  /// Writes a checkpoint, and then removes the oldest beyond `keep`, and those of later steps: the training has left
  /// them. Replaces one of the same step.
  void save(const CheckpointFacts& facts, const TrainingState& state);

  /// Path of a file beside the checkpoints.
  std::string pathOf(const std::string& name) const { return path_ + '/' + name; }

 private:
  void lock();
  void removeLeftOvers() const;
  void removeOthers(int64_t saved) const;

  const std::string path_;
  const int64_t keep_;
  int lock_ = -1;
};

/// The steps of the checkpoints in a folder, rising, whether intact or not. None: there are none, or no folder.
std::vector<int64_t> checkpointSteps(const std::string& folder);

/// The newest intact checkpoint of a folder. Those that are damaged are passed over, with a warning that says what is
/// wrong. None: there is no checkpoint. Throws CheckpointError if there are some and none is intact.
std::optional<Checkpoint> newestCheckpoint(const std::string& folder);

}  // namespace tandem

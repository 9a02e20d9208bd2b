#pragma once

#include <optional>
#include <string>

#include "run/plan/plan.h"
#include "run/training/checkpoint_folder.h"

namespace tandem {

/// The checkpoint that a training of this plan goes on from, by --resume; none: it begins anew. Throws UsageError where
/// a folder has checkpoints and --resume=never, or where there is none and it must, and CheckpointError where the
/// checkpoint is of another training, unless --allow-changes. What differs is then behind what differed before in
/// facts.record.changed, and the checkpoint's kernels and shares are left out.
std::optional<Checkpoint> checkpointToResume(const RunPlan& plan, const Environment& environment);

/// What the images of a plan are, for comparison: their name, number and classes.
std::string dataFacts(const RunPlan& plan);

/// Version and commit of the program, and libtorch's version.
std::string programFacts(const Environment& environment);

}  // namespace tandem

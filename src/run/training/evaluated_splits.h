#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/dataset/data_split.h"
#include "run/plan/plan.h"

namespace tandem {

/// What a training evaluates.
struct EvaluatedSplits {
  std::optional<DataSplit> during;  ///< at pauses and at the end; none: nothing
  std::optional<DataSplit> atEnd;   ///< besides, once
  std::string note;                 ///< why nothing, or training images, are evaluated; empty otherwise
};

/// By --validate-on. auto means the validation images; where the data set has none, its test images. Where it has both,
/// the test images are evaluated at the end. Throws MissingSplit where it has not what was asked for, else as
/// probeDataset().
EvaluatedSplits evaluatedSplits(const RunPlan& plan);

}  // namespace tandem

#pragma once

#include <string>

#include "measure/metrics/evaluation.h"

namespace tandem {

/// Writes what was computed of each image as safetensors, for other programs: "losses" [N] fp64; with one class per
/// image "labels", "predicted" and "place" [N] int32 and "scores" [N] fp32; with flags "outputs" [N, classes] fp32 and
/// "flags" [N, classes] uint8. Throws StorageError.
void saveScores(const std::string& path, const EvaluatedImages& images);

}  // namespace tandem

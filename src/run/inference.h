#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "data/dataset/dataset.h"
#include "run/plan/plan.h"
#include "train/checkpoint/weight_loader.h"

namespace tandem {

struct InferenceOptions {
  const RunPlan* plan = nullptr;  ///< of forwardOnly
  const Graph* graph = nullptr;   ///< what runs; may be a part of the plan's model
  std::shared_ptr<const Pretrained> pretrained;
  const Dataset* images = nullptr;  ///< none larger than the network's input; smaller ones are centred on zeros
  bool skipBad = false;             ///< leave out images whose get() throws DataError
};

struct BadImage {
  int64_t index = 0;
  std::string reason;
};

struct InferenceResult {
  at::Tensor outputs;           ///< [rows, channels] fp32, on the host: evaluation, with running statistics
  std::vector<int64_t> images;  ///< index of each row's image, ascending
  at::Tensor labels;            ///< [rows, ...] of the data set's kind
  std::vector<BadImage> bad;    ///< left out, ascending
  double seconds = 0;           ///< from the first image read to the last output, replicas ready
};

/// Runs all images through the network, batch by batch: a replica that is free takes the next one, reads its images and
/// runs it. The result does not depend on which replica ran what. Throws DataError for an image, NumericError naming an
/// image whose outputs are not finite.
InferenceResult runInference(const InferenceOptions& options);

}  // namespace tandem

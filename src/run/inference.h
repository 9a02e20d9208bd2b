#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/transform/transform_chain.h"
#include "run/plan/plan.h"
#include "train/checkpoint/weight_loader.h"

namespace tandem {

struct InferenceOptions {
  const RunPlan* plan = nullptr;  ///< REQUIRES: its configuration has forwardOnly
  const Graph* graph = nullptr;   ///< the plan's graph or a part of it
  std::shared_ptr<const Pretrained> pretrained;
  const Dataset* images = nullptr;
  TransformChain chain = {};  ///< of which all images come out as the network's inputs
  bool skipBad = false;       ///< leaves out images that cannot be read (DataError)
  bool blackenBad = false;    ///< takes them as black; leaves out those whose label cannot be read either
};

struct BadImage {
  int64_t index = 0;
  std::string reason;
  bool leftOut = false;  ///< else it was taken as black
};

struct InferenceResult {
  at::Tensor outputs;           ///< [rows, channels] fp32, on the host
  std::vector<int64_t> images;  ///< index of each row's image, ascending
  at::Tensor labels;            ///< [rows, ...] of the data set's kind
  std::vector<BadImage> bad;    ///< images that could not be read, ascending
  double seconds = 0;           ///< from the first read to the last output; building the replicas does not count
};

/// By which images become inputs where a network is evaluated: image files scaled and their middle cropped, pixels with
/// zeros around them. Throws UsageError for a --resize below the network's input.
TransformChain evaluationChain(const RunPlan& plan, const DatasetInfo& info);

/// Runs all images through the network in evaluation mode (running statistics). A free replica takes the next batch,
/// reads its images and runs it. The result does not depend on which replica runs which batch. Throws DataError for a
/// bad image, NumericError with the image whose outputs are not finite, UsageError if memory is refused.
InferenceResult runInference(const InferenceOptions& options);

}  // namespace tandem

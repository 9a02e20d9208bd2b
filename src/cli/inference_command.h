#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/program.h"
#include "config/command_line.h"
#include "data/dataset/dataset.h"
#include "run/inference.h"
#include "run/plan/plan.h"

namespace tandem {

/// The command line of `predict` or `features`, resolved: a network with weights, and images.
struct InferenceRequest {
  RunPlan plan;
  Sweep typed;                            ///< its operands are the files of the images; none with --data
  std::shared_ptr<const Dataset> images;  ///< those of the files, or of --data
  TransformChain chain;                   ///< by which they become inputs

  /// The path of an image, or "DATA #INDEX".
  std::string nameOf(int64_t image) const;
};

/// Parses and resolves a command line; `split` is what --data-split=auto means. What --data gives in its place is noted
/// on standard error. Throws UsageError for several values of one option,
/// --batch=max, no --weights, no images, a --resize below the network's input, or an option that --data makes idle.
/// Else throws as resolvePlan(), checkMemory(), requireThreads() and openDataset().
InferenceRequest inferenceRequest(std::string_view command, DataSplit split, Arguments arguments);

/// Runs the images through `graph` (the request's network or a part of it) with `weights`. Notes on the weights and the
/// images left out go to standard error. Throws as runInference(), and DataError if no image could be read.
InferenceResult infer(const InferenceRequest& request, const Graph& graph, std::shared_ptr<const Pretrained> weights);

double imagesPerSecond(const InferenceResult& result);

/// The split whose images they are; null for image files, and for a data set without splits.
nlohmann::ordered_json splitJson(const InferenceRequest& request);

/// The images left out, an array of objects with "image" and "reason".
nlohmann::ordered_json leftOutJson(const InferenceRequest& request, const InferenceResult& result);

/// "12 images in 0.34 s, 35.2 images/s on 2 replicas".
std::string rateText(const InferenceRequest& request, const InferenceResult& result);

}  // namespace tandem

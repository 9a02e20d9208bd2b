#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/program.h"
#include "data/dataset/dataset.h"
#include "run/inference.h"
#include "run/plan/plan.h"

namespace tandem {

/// What predict and features are asked for: a network with weights, and images.
struct InferenceRequest {
  RunPlan plan;
  std::vector<std::string> paths;         ///< of the images; none with --data
  std::shared_ptr<const Dataset> images;  ///< those of the paths, or of --data
  std::vector<std::string> given;         ///< names of the options typed

  std::string nameOf(int64_t image) const;
};

/// Parses and resolves a command line. Throws UsageError for a list, without --weights, without images and for a
/// --resize below the network's input; DataError for --data.
InferenceRequest inferenceRequest(std::string_view command, Arguments arguments);

/// Runs the images through `graph` (the request's network or a part of it) with the weights of the request. What people
/// should know, the weights and the images left out among it, goes to standard error. Throws DataError when no image is
/// left.
InferenceResult infer(const InferenceRequest& request, const Graph& graph, std::shared_ptr<const Pretrained> weights);

double imagesPerSecond(const InferenceResult& result);

/// The images left out, an array of objects with "image" and "reason".
nlohmann::ordered_json leftOutJson(const InferenceRequest& request, const InferenceResult& result);

/// "12 images in 0.34 s, 35.2 images/s on 2 replicas".
std::string rateText(const InferenceRequest& request, const InferenceResult& result);

}  // namespace tandem

#include "cli/inference_command.h"

#include <nlohmann/json.hpp>

#include "base/catalog.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/catalogs.h"
#include "config/command_line.h"
#include "config/modes.h"
#include "data/dataset/image_files.h"
#include "device/allocator/cpu_allocator.h"
#include "machine/process/thread_limit.h"
#include "run/plan/thread_count.h"

namespace tandem {
namespace {

/// "auto" means the first layout and algorithm here: measuring them would take longer than a few images do. On a GPU
/// --pad-images=auto is still measured.
Config withKernels(Config config) {
  if (config.numerics.layout == Config::automatic) config.numerics.layout = layouts().front().name;
  if (config.numerics.convolution == Config::automatic)
    config.numerics.convolution = convolutionAlgorithms().front().name;
  config.step.forwardOnly = true;
  return config;
}

/// Refuses options that would do nothing: those of image files, and where only the accuracy is printed those of single
/// images.
void checkBesideData(const Sweep& sweep, std::string_view command) {
  for (const std::string_view name : {"resize", "normalization", "bad-image"}) {
    if (!sweep.has(name)) continue;
    throw UsageError(
        concat("tandem ", command, ": --", name, " is for image files; --data prepares its images itself"));
  }
  for (const std::string_view name : {"top", "scores", "class-names"}) {
    if (!sweep.has(name) || sweep.base.inference.json) continue;
    throw UsageError(concat("--", name, " is of single images, and with --data the accuracy is printed; add --json"));
  }
}

void checkTyped(const Sweep& sweep, std::string_view command) {
  if (!sweep.axes.empty()) {
    throw UsageError(
        concat("tandem ", command, " takes one value of --", sweep.axes.front().option->name, ", not a list"));
  }
  if (sweep.base.network.weights.empty()) {
    throw UsageError(concat("tandem ", command, " needs trained weights: --weights=FILE"));
  }
  if (sweep.base.step.batch == Config::mostThatFits) {
    throw UsageError(
        concat("tandem ", command, " takes a number of images: --batch=max is for tandem bench, which tries"));
  }
  const bool hasPaths = !sweep.operands.empty(), hasData = !sweep.base.input.data.empty();
  if (hasPaths && hasData) {
    throw UsageError(concat("tandem ", command, ": images come from --data or from files, not from both"));
  }
  if (hasData) checkBesideData(sweep, command);
  if (!hasPaths && !hasData)
    throw UsageError(
        concat("tandem ", command, " needs images: name JPEG or PNG files, or a data set with --data=FOLDER"));
}

std::shared_ptr<const Dataset> filesOf(const RunPlan& plan, std::vector<std::string> paths) {
  const Config& config = plan.config;
  const auto& normalization = find(normalizations(), config.inference.normalization, "--normalization");
  const ImagePreparation preparation{
      .resize = config.inference.resize != 0 ? config.inference.resize : usualResize(config.network.imageSize),
      .crop = config.network.imageSize,
      .bgr = normalization.bgr};
  if (preparation.resize < preparation.crop) {
    throw UsageError(concat("--resize=", config.inference.resize, ": must be at least the network's input of ",
                            config.network.imageSize, " pixels"));
  }
  return imageFiles(std::move(paths), preparation, normalization.normalization);
}

}  // namespace

std::string InferenceRequest::nameOf(int64_t image) const {
  const std::vector<std::string>& paths = typed.operands;
  return paths.empty() ? concat(plan.config.input.data, " #", image) : paths.at(static_cast<size_t>(image));
}

InferenceRequest inferenceRequest(std::string_view command, DataSplit split, Arguments arguments) {
  InferenceRequest request;
  request.typed = parseArguments(command, arguments, catalogNames());
  const Sweep& typed = request.typed;
  checkTyped(typed, command);
  for (const auto& note : typed.notes) logInfo(concat("note: ", note));
  request.plan = resolvePlan(withKernels(typed.base));
  checkMemory(request.plan);
  requireThreads(threadsOf(request.plan));
  const std::string& data = typed.base.input.data;
  request.images = data.empty() ? filesOf(request.plan, typed.operands) : openDataset(data, split);
  return request;
}

InferenceResult infer(const InferenceRequest& request, const Graph& graph, std::shared_ptr<const Pretrained> weights) {
  for (const std::string& note : weights->notes) logInfo(concat("note: ", note));
  for (const std::string& warning : weights->warnings) logWarning(warning);
  auto result =
      runInference({.plan = &request.plan,
                    .graph = &graph,
                    .pretrained = std::move(weights),
                    .images = request.images.get(),
                    .skipBad = find(badImages(), request.plan.config.inference.badImage, "--bad-image").leftOut});
  for (const BadImage& bad : result.bad) logWarning(concat("left out: ", bad.reason));
  if (result.images.empty()) {
    throw DataError(
        concat("none of ", request.images->size(), " images could be read; the first: ", result.bad.front().reason));
  }
  return result;
}

double imagesPerSecond(const InferenceResult& result) {
  return static_cast<double>(result.images.size()) / result.seconds;
}

nlohmann::ordered_json leftOutJson(const InferenceRequest& request, const InferenceResult& result) {
  auto bad = nlohmann::ordered_json::array();
  for (const BadImage& left : result.bad)
    bad.push_back({{"image", request.nameOf(left.index)}, {"reason", left.reason}});
  return bad;
}

std::string rateText(const InferenceRequest& request, const InferenceResult& result) {
  const auto images = std::ssize(result.images);
  return concat(images, images == 1 ? " image" : " images", " in ", secondsText(result.seconds), ", ",
                fixed(imagesPerSecond(result), 1), " images/s on ", request.plan.config.placement.replicas,
                request.plan.config.placement.replicas == 1 ? " replica" : " replicas");
}

}  // namespace tandem

#include "cli/inference_command.h"

#include <nlohmann/json.hpp>

#include "base/catalog.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/catalogs.h"
#include "config/command_line.h"
#include "config/commands.h"
#include "config/modes.h"
#include "config/network_path.h"
#include "data/dataset/image_list.h"
#include "data/transform/augment.h"
#include "device/allocator/cpu_allocator.h"
#include "machine/process/thread_limit.h"
#include "run/plan/thread_count.h"

namespace tandem {
namespace {

/// "auto" means the first layout and algorithm here: measuring them would take longer than a few images do. On a GPU
/// --pad-images=auto is still measured. That of --data-split is `split`.
Config withoutAutomatic(Config config, DataSplit split) {
  if (config.numerics.layout == Config::automatic) config.numerics.layout = layouts().front().name;
  if (config.numerics.convolution == Config::automatic)
    config.numerics.convolution = convolutionAlgorithms().front().name;
  if (!config.input.data.empty() && config.input.dataSplit == Config::automatic)
    config.input.dataSplit = rowOf(split).name;
  config.step.forwardOnly = true;
  return config;
}

/// Refuses options that would do nothing: those of single images, where only the accuracy is printed.
void checkBesideData(const Sweep& sweep) {
  for (const std::string_view name : {"top", "scores", "class-names"}) {
    if (!sweep.has(name) || sweep.base.inference.json) continue;
    throw UsageError(concat("--", name, " is of single images, and with --data the accuracy is printed; add --json"));
  }
}

/// Likewise those of image files, where the data set has pixels.
void checkBesidePixels(const Sweep& sweep, std::string_view command) {
  for (const std::string_view name : {"resize", "interpolation", "bad-image"}) {
    if (!sweep.has(name)) continue;
    throw UsageError(
        concat("tandem ", command, ": --", name, " is for image files; --data=", sweep.base.input.data, " has pixels"));
  }
}

void checkTyped(const Sweep& sweep, std::string_view command) {
  if (!sweep.axes.empty()) {
    throw UsageError(
        concat("tandem ", command, " takes one value of --", sweep.axes.front().option->name, ", not a list"));
  }
  if (sweep.base.network.weights.empty() && !isOnnxPath(sweep.base.network.model)) {
    throw UsageError(concat("tandem ", command, " needs trained weights: --weights=FILE, or --model=FILE.onnx"));
  }
  if (sweep.base.step.batch == Config::mostThatFits) {
    throw UsageError(
        concat("tandem ", command, " takes a number of images: --batch=max is for tandem bench, which tries"));
  }
  const bool hasPaths = !sweep.operands.empty(), hasData = !sweep.base.input.data.empty();
  if (hasPaths && hasData) {
    throw UsageError(concat("tandem ", command, ": images come from --data or from files, not from both"));
  }
  if (hasData) checkBesideData(sweep);
  if (hasPaths || hasData) return;
  const bool takesFiles = !commandCalled(command).operands.empty();
  throw UsageError(concat("tandem ", command, " needs images: ",
                          takesFiles ? "name JPEG or PNG files, or a data set with --data=FOLDER"
                                     : "a data set with labels, --data=FOLDER"));
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
  request.plan = resolvePlan(withoutAutomatic(typed.base, split));
  checkMemory(request.plan);
  requireThreads(threadsOf(request.plan));
  const std::string& data = typed.base.input.data;
  const Setup& setup = request.plan.setup;
  if (request.plan.data && !request.plan.data->info.encoded()) checkBesidePixels(typed, command);
  if (const std::string note = standInNote(request.plan); !note.empty()) logInfo(concat("note: ", note));
  request.images = data.empty() ? imageFiles(typed.operands, normalizationOf(setup))
                                : openDataset(data, {.split = splitOf(setup),
                                                     .normalization = normalizationOf(setup),
                                                     .classes = request.plan.config.network.classes});
  request.chain = evaluationChain(request.plan, request.images->info());
  return request;
}

InferenceResult infer(const InferenceRequest& request, const Graph& graph, std::shared_ptr<const Pretrained> weights) {
  for (const std::string& note : weights->notes) logInfo(concat("note: ", note));
  for (const std::string& warning : weights->warnings) logWarning(warning);
  const BadImageEntry& badImage = find(badImages(), request.plan.config.inference.badImage, "--bad-image");
  auto result = runInference({.plan = &request.plan,
                              .graph = &graph,
                              .pretrained = std::move(weights),
                              .images = request.images.get(),
                              .chain = request.chain,
                              .skipBad = badImage.leftOut,
                              .blackenBad = badImage.blackened});
  for (const BadImage& bad : result.bad) logWarning(concat(bad.leftOut ? "left out: " : "black: ", bad.reason));
  if (std::ssize(result.bad) == request.images->size()) {
    throw DataError(
        concat("none of ", request.images->size(), " images could be read; the first: ", result.bad.front().reason));
  }
  std::erase_if(result.bad, [](const BadImage& bad) { return !bad.leftOut; });
  return result;
}

double imagesPerSecond(const InferenceResult& result) {
  return static_cast<double>(result.images.size()) / result.seconds;
}

nlohmann::ordered_json splitJson(const InferenceRequest& request) {
  const auto split = request.images->info().split;
  return split ? nlohmann::ordered_json(rowOf(*split).name) : nlohmann::ordered_json();
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

#include <ATen/ATen.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "cli/arguments/command_files.h"
#include "cli/catalogs.h"
#include "cli/commands.h"
#include "cli/inference_command.h"
#include "config/command_line.h"
#include "device/allocator/cpu_allocator.h"
#include "formats/weights/npy.h"
#include "formats/weights/safetensors.h"
#include "graph/state.h"
#include "models/model.h"
#include "train/checkpoint/torch_tensors.h"

namespace tandem {
namespace {

void writeAsNpy(const std::string& path, const InferenceResult& result) {
  const at::Tensor& features = result.outputs;
  writeNpy(path, {features.const_data_ptr<float>(), static_cast<size_t>(features.numel())}, features.size(0),
           features.size(1));
}

/// Writes the features, the index of each row's image, and for a data set its label (images from files have label -1).
void writeAsSafetensors(const std::string& path, const InferenceResult& result) {
  const at::Tensor images = at::tensor(result.images, at::kLong);
  std::vector<FileTensor> tensors{fileTensorOf("features", result.outputs), fileTensorOf("images", images),
                                  fileTensorOf("labels", result.labels)};
  if (result.labels.lt(0).all().item<bool>()) tensors.pop_back();
  writeSafetensors(path, std::move(tensors), {});
}

struct OutputFormat {
  std::string_view ending;
  void (*write)(const std::string& path, const InferenceResult&);
};
constexpr OutputFormat outputFormats[] = {{".npy", writeAsNpy}, {".safetensors", writeAsSafetensors}};

const OutputFormat& outputFormat(const InferenceRequest& request) {
  const std::string& path = request.plan.config.output.out;
  if (!request.typed.has("out")) {
    throw UsageError("tandem features needs a file to write: --out=FILE.npy or --out=FILE.safetensors");
  }
  const auto row =
      std::ranges::find_if(outputFormats, [&](const OutputFormat& format) { return path.ends_with(format.ending); });
  if (row == std::end(outputFormats)) throw UsageError(concat("--out=", path, ": must end in .npy or .safetensors"));
  return *row;
}

/// Of the features of so many images.
int64_t bytesOf(const Graph& features, int64_t images) {
  return images * features.node(features.output()).shape.channels * static_cast<int64_t>(sizeof(float));
}

void printJson(const InferenceRequest& request, const InferenceResult& result) {
  using nlohmann::ordered_json;
  auto rows = ordered_json::array();
  for (const int64_t image : result.images) rows.push_back(request.nameOf(image));
  const ordered_json object{
      {"model", request.plan.config.network.model}, {"weights", request.plan.config.network.weights},
      {"data_split", splitJson(request)},           {"out", request.plan.config.output.out},
      {"features", result.outputs.size(1)},         {"rows", rows},
      {"left_out", leftOutJson(request, result)},   {"images_per_second", imagesPerSecond(result)}};
  std::cout << object.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace

int featuresCommand(Arguments arguments) {
  if (asksForHelp(arguments)) {
    std::cout << helpText("features", catalogNames());
    return 0;
  }
  InferenceRequest request = inferenceRequest("features", DataSplit::training, arguments);
  const OutputFormat& format = outputFormat(request);
  Config& config = request.plan.config;
  const Graph features = featureGraph(*request.plan.graph);
  auto files = filesOf(config, onFeatures);
  for (CommandFile& file : files) file.bytes = bytesOf(features, request.images->size());
  for (const std::string& path : request.typed.operands) files.push_back({path, path});
  checkFiles(files);
  config.network.resetHead = true;  // features do not use the classifier, so its weights need not fit
  installCpuAllocator();
  const InferenceResult result = infer(request, features, readPretrained(config, *request.plan.graph));
  format.write(config.output.out, result);
  if (config.inference.json) {
    printJson(request, result);
  } else {
    std::cout << config.output.out << ": " << result.outputs.size(0) << " x " << result.outputs.size(1) << " features\n"
              << rateText(request, result) << '\n';
  }
  return 0;
}

}  // namespace tandem

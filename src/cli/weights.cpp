#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "base/catalog.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/arguments/command_files.h"
#include "cli/arguments/command_options.h"
#include "cli/catalogs.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "config/network_path.h"
#include "formats/weights/safetensors.h"
#include "formats/weights/weights_file.h"
#include "models/model.h"
#include "models/names/weights_map.h"
#include "train/checkpoint/foreign_weights.h"
#include "train/checkpoint/torch_tensors.h"

namespace tandem {
namespace {

constexpr std::string_view usage =
    "Usage: tandem weights inspect FILE [--reject-nonfinite]\n"
    "       tandem weights convert FILE OUT.safetensors [--reject-nonfinite] [--model=NAME [OPTION]...]\n\n"
    "Lists the tensors of a weights file, or writes them as safetensors. FILE is safetensors or a state dict in the "
    "zip\n"
    "format of torch.save (.pth, .pt); what it is its content says, not its name. Nothing in it is executed.\n"
    "A tensor with values that are not finite is warned of; with --reject-nonfinite it is refused (exit code 4).\n\n"
    "Without --model OUT has the tensors as they are. With it they must be those of the network, and OUT has them in\n"
    "fp32 with the names, shapes and orders of axes of --names. An OUT that is there is replaced.\n\n";
constexpr std::string_view examples =
    "\n"
    "  tandem weights inspect resnet50.pth\n"
    "  tandem weights convert resnet50.pth resnet50.safetensors\n"
    "  tandem weights convert mine.safetensors timm.safetensors --model=efficientnet_b0 --classes=14 --names=timm\n"
    "  tandem weights convert keras.safetensors mine.safetensors --model=vgg16 --weights-map=keras\n";
constexpr std::string_view rejectFlag = "--reject-nonfinite", modelOption = "--model", namesOption = "--names";
constexpr std::string_view ending = ".safetensors";

/// Options of `convert` with a network. All but --names are options of the table.
constexpr CommandOption optionRows[] = {
    {modelOption, "NAME", "the network of the weights: a name, or the path of a file, NAME.json or NAME.onnx", ""},
    {namesOption, "NAME", "whose names and memory orders OUT has", "none"},
    {"--weights-map", "NAME", "whose names and memory orders FILE has", "none"},
    {"--classes", "N", "classes of the network; 0 takes the model's own", "0"},
    {"--image-size", "N", "height and width of an input image; 0 takes the model's own", "0"},
};

std::string help() {
  constexpr size_t leftWidth = 26;
  std::string text(usage);
  for (const CommandOption& option : optionRows) text += helpLine(option, leftWidth);
  text += '\n';
  for (const WeightsMap& map : weightsMaps()) {
    std::string left = concat("  ", namesOption, '=', map.name);
    left.resize(leftWidth, ' ');
    text += concat(left, map.summary, '\n');
  }
  return text.append(examples);
}

struct Request {
  std::vector<std::string> files;
  bool rejectNonFinite = false;
  std::optional<Config> network;                    ///< of --model
  std::string names = Config().network.weightsMap;  ///< the map of OUT
};

void takeIn(Request& request, std::span<const TypedOption> typed) {
  if (typed.empty()) return;
  if (std::ranges::find(typed, modelOption, &TypedOption::name) == typed.end()) {
    throw UsageError(concat("tandem weights convert: ", typed.front().name, " needs ", modelOption));
  }
  Config& config = request.network.emplace();
  config.network.rejectNonfinite = request.rejectNonFinite;
  for (const TypedOption& option : typed) {
    if (option.name == namesOption) {
      request.names = find(weightsMaps(), option.value, namesOption).name;
      continue;
    }
    const Option* const row = findOption(std::string_view(option.name).substr(2));
    check(row != nullptr, "weights convert: an option that the table lacks");
    setValue(config, *row, option.value, catalogNames());
  }
}

Request requestOf(std::string_view verb, Arguments arguments, size_t files, std::span<const CommandOption> valid) {
  Request request;
  std::vector<std::string> others(arguments.begin(), arguments.end());
  request.rejectNonFinite = std::erase(others, rejectFlag) > 0;
  TypedArguments typed = typedArguments(others);
  auto names = namesOf(valid);
  names.emplace_back(rejectFlag);
  checkNames(typed.options, names, concat("option of tandem weights ", verb));
  request.files = std::move(typed.operands);
  if (request.files.size() != files) {
    throw UsageError(concat("tandem weights: ", verb, " needs ", files, files == 1 ? " file" : " files", ", ",
                            request.files.size(), " given; see 'tandem weights --help'"));
  }
  takeIn(request, typed.options);
  return request;
}

WeightsFile openChecked(const Request& request, Slashes slashes) {
  WeightsFile file = WeightsFile::open(request.files.front(), {.slashes = slashes});
  std::vector<uint8_t> scratch;
  for (const FileTensor& tensor : file.tensors()) {
    const uint64_t count = countNonFinite(*tensor.type, rowMajorBytes(tensor, scratch));
    if (count == 0) continue;
    const std::string text = concat(file.path(), ": tensor '", tensor.name, "' has ", count, " of ", tensor.elements(),
                                    " values that are not finite");
    if (request.rejectNonFinite) throw CheckpointError(concat(text, ", refused by ", rejectFlag));
    logWarning(text);
  }
  return file;
}

std::string shapeOf(const FileTensor& tensor) {
  std::vector<std::string> sizes;
  for (const int64_t size : tensor.shape) sizes.push_back(std::to_string(size));
  return concat('[', join(sizes), ']');
}

int inspect(Arguments arguments) {
  const WeightsFile file = openChecked(requestOf("inspect", arguments, 1, {}), Slashes::inside);
  std::vector<std::vector<std::string>> rows{{"tensor", "type", "shape", "bytes"}};
  uint64_t bytes = 0, elements = 0;
  for (const FileTensor& tensor : file.tensors()) {
    rows.push_back({tensor.name, std::string(tensor.type->name), shapeOf(tensor), std::to_string(tensor.byteCount())});
    bytes += tensor.byteCount();
    elements += tensor.elements();
  }
  printTable(rows, rows.front().size() - 1);
  std::cout << file.format() << ": " << file.tensors().size() << " tensors, " << elements << " values, " << bytes
            << " bytes (" << bytesText(static_cast<double>(bytes)) << ")\n";
  if (!file.note().empty()) std::cout << file.note() << '\n';
  for (const auto& [key, value] : file.metadata())
    std::cout << "metadata " << escaped(key) << ": " << escaped(value) << '\n';
  return 0;
}

/// 0 for what is no file; opening it says so.
int64_t sizeOf(const std::string& path) {
  std::error_code none;
  const auto size = std::filesystem::file_size(path, none);
  return none ? 0 : static_cast<int64_t>(size);
}

/// Writes the tensors as they are.
void convertFile(const Request& request, const std::string& out) {
  const WeightsFile file = openChecked(request, Slashes::refused);
  auto metadata = file.metadata();
  metadata.emplace("format", "pt");
  writeSafetensors(out, {file.tensors().begin(), file.tensors().end()}, metadata);
  std::cout << out << ": " << file.tensors().size() << " tensors\n";
  if (!file.note().empty()) std::cout << file.note() << '\n';
}

/// Writes the tensors of a network under other names.
void convertNames(const Request& request, const std::string& out) {
  Config config = *request.network;
  Config::Network& network = config.network;
  network.weights = request.files.front();
  const WeightsMap& map = find(weightsMaps(), request.names, namesOption);
  const Graph graph = buildModel(network.model, {.classes = network.classes, .imageSize = network.imageSize});
  const ForeignWeights weights = readForeign(map, config, graph);
  for (const std::string& text : weights.warnings) logWarning(text);
  std::vector<FileTensor> tensors;
  for (const auto& [name, values] : weights.tensors) tensors.push_back(fileTensorOf(name, values));
  writeSafetensors(out, std::move(tensors), {{"model", network.model}, {"names", std::string(map.name)}});
  std::cout << out << ": " << weights.tensors.size() << " tensors of " << network.model << ", names of " << map.name
            << '\n';
  for (const std::string& text : weights.notes) std::cout << text << '\n';
}

int convert(Arguments arguments) {
  const Request request = requestOf("convert", arguments, 2, optionRows);
  const std::string &in = request.files.front(), &out = request.files.back();
  if (!out.ends_with(ending)) {
    throw UsageError(
        concat("tandem weights convert: '", out, "' does not end in ", ending, ", the one format written"));
  }
  std::vector<CommandFile> files{{in, in}, {out, out, FileUse::replaced, sizeOf(in)}};
  if (request.network && isNetworkPath(request.network->network.model)) {
    files.push_back({concat(modelOption, '=', request.network->network.model), request.network->network.model});
  }
  checkFiles(files);
  request.network ? convertNames(request, out) : convertFile(request, out);
  return 0;
}

}  // namespace

int weightsCommand(Arguments arguments) {
  if (asksForHelp(arguments)) {
    std::cout << help();
    return 0;
  }
  const std::string_view verb = arguments.empty() ? "" : std::string_view(arguments.front());
  if (verb == "inspect") return inspect(arguments.subspan(1));
  if (verb == "convert") return convert(arguments.subspan(1));
  throw UsageError(concat("tandem weights", verb.empty() ? "" : " ", verb,
                          ": use 'tandem weights inspect FILE' or 'tandem weights convert FILE OUT'"));
}

}  // namespace tandem

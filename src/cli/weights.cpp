#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/arguments/command_files.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "formats/weights/safetensors.h"
#include "formats/weights/weights_file.h"

namespace tandem {
namespace {

constexpr std::string_view usage =
    "Usage: tandem weights inspect FILE [--reject-nonfinite]\n"
    "       tandem weights convert FILE OUT.safetensors [--reject-nonfinite]\n\n"
    "Lists the tensors of a weights file, or writes them as safetensors. FILE is safetensors or a state dict in the "
    "zip\n"
    "format of torch.save (.pth, .pt); what it is its content says, not its name. Nothing in it is executed.\n"
    "A tensor with values that are not finite is warned of; with --reject-nonfinite it is refused (exit code 4).\n\n"
    "  tandem weights inspect resnet50.pth\n"
    "  tandem weights convert resnet50.pth resnet50.safetensors\n";
constexpr std::string_view rejectFlag = "--reject-nonfinite";
constexpr std::string_view ending = ".safetensors";

struct Request {
  std::vector<std::string> files;
  bool rejectNonFinite = false;
};

Request requestOf(Arguments arguments, size_t files, std::string_view what) {
  Request request;
  for (const std::string& argument : arguments) {
    if (argument == rejectFlag) {
      request.rejectNonFinite = true;
    } else if (argument.starts_with("--")) {
      throw UsageError(concat("tandem weights: unknown option '", argument, "'; the only one is ", rejectFlag));
    } else {
      request.files.push_back(argument);
    }
  }
  if (request.files.size() != files) {
    throw UsageError(concat("tandem weights: ", what, " needs ", files, files == 1 ? " file" : " files", ", ",
                            request.files.size(), " given; see 'tandem weights --help'"));
  }
  return request;
}

WeightsFile openChecked(const Request& request) {
  WeightsFile file = WeightsFile::open(request.files.front());
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
  const WeightsFile file = openChecked(requestOf(arguments, 1, "inspect"));
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

int convert(Arguments arguments) {
  const Request request = requestOf(arguments, 2, "convert");
  const std::string& out = request.files.back();
  if (!out.ends_with(ending)) {
    throw UsageError(
        concat("tandem weights convert: '", out, "' does not end in ", ending, ", the one format written"));
  }
  const std::string& in = request.files.front();
  checkFiles(std::vector<CommandFile>{{in, in}, {out, out, FileUse::replaced, sizeOf(in)}});
  const WeightsFile file = openChecked(request);
  auto metadata = file.metadata();
  metadata.emplace("format", "pt");
  writeSafetensors(out, {file.tensors().begin(), file.tensors().end()}, metadata);
  std::cout << out << ": " << file.tensors().size() << " tensors\n";
  if (!file.note().empty()) std::cout << file.note() << '\n';
  return 0;
}

}  // namespace

int weightsCommand(Arguments arguments) {
  if (asksForHelp(arguments)) {
    std::cout << usage;
    return 0;
  }
  const std::string_view verb = arguments.empty() ? "" : std::string_view(arguments.front());
  if (verb == "inspect") return inspect(arguments.subspan(1));
  if (verb == "convert") return convert(arguments.subspan(1));
  throw UsageError(concat("tandem weights", verb.empty() ? "" : " ", verb,
                          ": use 'tandem weights inspect FILE' or 'tandem weights convert FILE OUT'"));
}

}  // namespace tandem

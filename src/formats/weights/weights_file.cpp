#include "formats/weights/weights_file.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "formats/io/checksum.h"
#include "formats/io/file.h"
#include "formats/objects/pickle.h"
#include "formats/weights/pth.h"
#include "formats/weights/safetensors.h"

namespace tandem {
namespace {

constexpr uint64_t headBytes = 16;

enum class Format { safetensors, pth };

/// The command that converts a file of torch.save from before its zip format.
std::string conversion(const std::string& path) {
  return concat("python3 -c \"import torch; torch.save(torch.load('", path, "', weights_only=True), '", path,
                ".zip.pth')\"");
}

Format formatOf(std::span<const uint8_t> head, const std::string& path) {
  if (isSafetensors(head)) return Format::safetensors;
  if (isZip(head)) return Format::pth;
  if (isLegacyPth(head)) {
    throw CheckpointError(concat(path,
                                 ": this is torch.save's format before PyTorch 1.6, a bare pickle, which is not read; ",
                                 "convert it: ", conversion(path)));
  }
  if (isPickle(head)) {
    throw CheckpointError(concat(path,
                                 ": this is a Python pickle, which is never loaded; save the weights with torch.save ",
                                 "or as safetensors"));
  }
  throw CheckpointError(concat(
      path, ": neither safetensors (whose ninth byte is '{') nor a zip file of torch.save (which starts with PK)"));
}

std::string noteOn(const Pth& pth) {
  if (pth.within.empty()) return "";
  std::string place = concat("state dict under the key '", join(pth.within, "' and '"), "'");
  constexpr size_t limit = 10;
  const std::span<const std::string> skipped(pth.skipped);
  if (skipped.empty()) return place;
  return concat(place, "; not read: ", join(skipped.first(std::min(limit, skipped.size()))),
                skipped.size() > limit ? ", ..." : "");
}

}  // namespace

WeightsFile WeightsFile::open(const std::string& path, const WeightsFileOptions& options) {
  const Format format = formatOf(readFileHead(path, headBytes), path);
  WeightsFile file;
  file.path_ = path;
  file.bytes_ = readFile(path, options.limitBytes);
  if (format == Format::safetensors) {
    auto content = valueOrThrow<CheckpointError>(parseSafetensors(file.bytes_, {.slashes = options.slashes}), path);
    file.format_ = "safetensors";
    file.tensors_ = std::move(content.tensors);
    file.metadata_ = std::move(content.metadata);
  } else {
    auto content = valueOrThrow<CheckpointError>(parsePth(file.bytes_), path);
    file.format_ = "pth";
    file.tensors_ = std::move(content.tensors);
    file.note_ = noteOn(content);
  }
  return file;
}

WeightsFile WeightsFile::of(std::vector<uint8_t> bytes, Content content) {
  WeightsFile file;
  file.bytes_ = std::move(bytes);  // keeps its place in memory
  file.path_ = std::move(content.path);
  file.format_ = std::move(content.format);
  file.note_ = std::move(content.note);
  file.tensors_ = std::move(content.tensors);
  file.memory_ = std::move(content.memory);
  return file;
}

std::string WeightsFile::sha256() const { return sha256Of(bytes_); }

}  // namespace tandem

#include <filesystem>

#include "data/dataset/memory_dataset.h"
#include "formats/dataset/cifar10.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

constexpr uint64_t fileLimit = uint64_t{1} << 31;

// [3, H, W] -> [H, W, 3]
void appendInterleaved(std::span<const uint8_t> planes, std::vector<uint8_t>& pixels) {
  const size_t start = pixels.size();
  pixels.resize(start + planes.size());
  uint8_t* out = pixels.data() + start;
  for (int64_t p = 0; p < Cifar10::planeBytes; ++p) {
    for (int64_t c = 0; c < 3; ++c) *out++ = planes[c * Cifar10::planeBytes + p];
  }
}

DatasetInfo cifar10Info() {
  return {.name = "cifar10",
          .height = Cifar10::edge,
          .width = Cifar10::edge,
          .channels = 3,
          .classes = Cifar10::classes,
          .normalization = {}};
}

}  // namespace

DatasetFacts probeCifar10Files(std::span<const std::string> paths) {
  DatasetFacts facts{cifar10Info()};
  for (const std::string& path : paths) {
    const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path));
    const bool whole = bytes > 0 && bytes % Cifar10::recordBytes == 0 && !isPickle(readFileHead(path, 2));
    if (!whole) valueOrThrow(parseCifar10(readFile(path, fileLimit)), path);  // says what is wrong
    facts.images += bytes / Cifar10::recordBytes;
  }
  return facts;
}

std::unique_ptr<Dataset> openCifar10Files(std::span<const std::string> paths) {
  LabelledImages images;
  images.info = cifar10Info();
  for (const std::string& path : paths) {
    const std::vector<uint8_t> bytes = readFile(path, fileLimit);
    const Cifar10 batch = valueOrThrow(parseCifar10(bytes), path);
    for (int64_t i = 0; i < batch.count(); ++i) {
      images.labels.push_back(batch.label(i));
      appendInterleaved(batch.planes(i), images.pixels);
    }
  }
  return std::make_unique<MemoryDataset>(std::move(images));
}

}  // namespace tandem

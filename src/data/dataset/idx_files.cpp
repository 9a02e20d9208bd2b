#include <algorithm>

#include "data/dataset/memory_dataset.h"
#include "formats/archive/gzip.h"
#include "formats/dataset/idx.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

constexpr uint64_t fileLimit = uint64_t{1} << 32;

std::vector<uint8_t> readPlain(const std::string& path) {
  std::vector<uint8_t> bytes = readFile(path, fileLimit);
  if (!isGzip(bytes)) return bytes;
  return valueOrThrow(gunzip(bytes, {.outputBytes = fileLimit}), path);
}

struct IdxFile {
  std::vector<uint8_t> bytes;
  Idx idx;
};

IdxFile openIdx(const std::string& path, int dimensions) {
  IdxFile file{readPlain(path), {}};
  file.idx = valueOrThrow(parseIdx(file.bytes), path);
  if (file.idx.dimensions != dimensions) {
    throw DataError(concat(path, ": byte 3: IDX array has ", file.idx.dimensions, " dimensions; ",
                           dimensions == 3 ? "images have 3" : "labels have 1", ": give matching images and labels"));
  }
  return file;
}

}  // namespace

std::unique_ptr<Dataset> openIdxFiles(const std::string& imagesPath, const std::string& labelsPath) {
  IdxFile images = openIdx(imagesPath, 3);
  const IdxFile labels = openIdx(labelsPath, 1);
  if (images.idx.sizes[0] != labels.idx.sizes[0]) {
    throw DataError(concat(imagesPath, " has ", images.idx.sizes[0], " images but ", labelsPath, " has ",
                           labels.idx.sizes[0], " labels; the numbers must be equal: fetch both files again"));
  }
  LabelledImages result;
  result.labels.assign(labels.idx.values.begin(), labels.idx.values.end());
  const int64_t largest = *std::max_element(result.labels.begin(), result.labels.end());
  result.info = {.name = "idx",
                 .height = images.idx.sizes[1],
                 .width = images.idx.sizes[2],
                 .channels = 1,
                 .classes = std::max<int64_t>(largest + 1, 2),
                 .normalization = {}};
  const auto header = static_cast<std::ptrdiff_t>(images.bytes.size() - images.idx.values.size());
  images.bytes.erase(images.bytes.begin(), images.bytes.begin() + header);
  result.pixels = std::move(images.bytes);
  return std::make_unique<MemoryDataset>(std::move(result));
}

}  // namespace tandem

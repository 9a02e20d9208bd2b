#include <algorithm>
#include <filesystem>

#include "data/dataset/memory_dataset.h"
#include "formats/archive/gzip.h"
#include "formats/dataset/idx.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

std::vector<uint8_t> readPlain(const std::string& path) {
  std::vector<uint8_t> bytes = readFile(path, largestIdxFile);
  if (!isGzip(bytes)) return bytes;
  return valueOrThrow(gunzip(bytes, {.outputBytes = largestIdxFile}), path);
}

struct IdxFile {
  std::vector<uint8_t> bytes;
  Idx idx;
};

constexpr int imageDimensions = 3, labelDimensions = 1;

Idx checkDimensions(const Idx& idx, int dimensions, const std::string& path) {
  if (idx.dimensions == dimensions) return idx;
  throw DataError(concat(path, ": byte 3: IDX array has ", idx.dimensions, " dimensions; ",
                         dimensions == imageDimensions ? "images have 3" : "labels have 1",
                         ": give matching images and labels"));
}

IdxFile openIdx(const std::string& path, int dimensions) {
  IdxFile file{readPlain(path), {}};
  file.idx = checkDimensions(valueOrThrow(parseIdx(file.bytes), path), dimensions, path);
  return file;
}

/// The header of a file of images; of a plain file its length too is checked.
Idx imagesHeader(const std::string& path) {
  constexpr uint64_t headBytes = 4096, idxHeaderBytes = 16;
  std::vector<uint8_t> head = readFileHead(path, headBytes);
  const bool plain = !isGzip(head);
  if (!plain) head = gunzipHead(head, idxHeaderBytes);
  const Result<Idx> header = parseIdxHeader(head);
  const bool whole = header.ok() && (!plain || header.value().fileBytes() == std::filesystem::file_size(path));
  if (!whole) return openIdx(path, imageDimensions).idx;  // says what is wrong
  return checkDimensions(header.value(), imageDimensions, path);
}

struct Named {
  const std::string& path;
  const Idx& idx;
};

DatasetFacts factsOf(const Named& images, const Named& labels) {
  if (images.idx.sizes[0] != labels.idx.sizes[0]) {
    throw DataError(concat(images.path, " has ", images.idx.sizes[0], " images but ", labels.path, " has ",
                           labels.idx.sizes[0], " labels; the numbers must be equal: fetch both files again"));
  }
  const int64_t largest = *std::ranges::max_element(labels.idx.values);
  return {{.name = "idx",
           .height = images.idx.sizes[1],
           .width = images.idx.sizes[2],
           .channels = 1,
           .classes = std::max<int64_t>(largest + 1, 2),
           .normalization = {}},
          labels.idx.sizes[0]};
}

}  // namespace

DatasetFacts probeIdxFiles(const std::string& imagesPath, const std::string& labelsPath) {
  const Idx images = imagesHeader(imagesPath);
  const IdxFile labels = openIdx(labelsPath, labelDimensions);
  return factsOf({imagesPath, images}, {labelsPath, labels.idx});
}

std::unique_ptr<Dataset> openIdxFiles(const std::string& imagesPath, const std::string& labelsPath) {
  IdxFile images = openIdx(imagesPath, imageDimensions);
  const IdxFile labels = openIdx(labelsPath, labelDimensions);
  LabelledImages result;
  result.info = factsOf({imagesPath, images.idx}, {labelsPath, labels.idx}).info;
  result.labels.assign(labels.idx.values.begin(), labels.idx.values.end());
  const auto header = static_cast<std::ptrdiff_t>(images.bytes.size() - images.idx.values.size());
  images.bytes.erase(images.bytes.begin(), images.bytes.begin() + header);
  result.pixels = std::move(images.bytes);
  return std::make_unique<MemoryDataset>(std::move(result));
}

}  // namespace tandem

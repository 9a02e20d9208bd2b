#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "data/dataset/memory_dataset.h"
#include "formats/dataset/cifar.h"
#include "formats/io/file.h"
#include "formats/objects/pickle.h"

namespace tandem {
namespace {

// [3, H, W] -> [H, W, 3]
void appendInterleaved(std::span<const uint8_t> planes, std::vector<uint8_t>& pixels) {
  const size_t start = pixels.size();
  pixels.resize(start + planes.size());
  uint8_t* out = pixels.data() + start;
  for (int64_t p = 0; p < CifarLayout::planeBytes; ++p) {
    for (int64_t c = 0; c < 3; ++c) *out++ = planes[c * CifarLayout::planeBytes + p];
  }
}

DatasetInfo infoOf(const CifarLayout& layout) {
  return {.name = std::string(layout.dataset),
          .height = CifarLayout::edge,
          .width = CifarLayout::edge,
          .channels = 3,
          .classes = layout.classes,
          .normalization = {}};
}

/// The layout that all files of a data set have.
class CommonLayout {
 public:
  void add(const CifarLayout& layout, const std::string& path) {
    if (layout_ != nullptr && layout_ != &layout) {
      throw DataError(concat(path, ": holds ", layout.name, ", the files before it ", layout_->name,
                             "; keep the files of one data set"));
    }
    layout_ = &layout;
  }
  DatasetInfo info() const { return infoOf(*layout_); }

 private:
  const CifarLayout* layout_ = nullptr;
};

}  // namespace

DatasetFacts probeCifarFiles(std::span<const std::string> paths) {
  DatasetFacts facts;
  CommonLayout common;
  for (const std::string& path : paths) {
    const uint64_t bytes = std::filesystem::file_size(path);
    const CifarLayout* const layout = isPickle(readFileHead(path, 2)) ? nullptr : cifarLayoutOf(bytes);
    if (layout != nullptr) {
      common.add(*layout, path);
      facts.images += static_cast<int64_t>(bytes) / layout->recordBytes();
      continue;
    }
    const std::vector<uint8_t> content = readFile(path, largestCifarFile);  // a pickle, or what is refused
    const CifarBatch batch = valueOrThrow(parseCifar(content), path);
    common.add(*batch.layout, path);
    facts.images += batch.count();
  }
  facts.info = common.info();
  return facts;
}

std::unique_ptr<Dataset> openCifarFiles(std::span<const std::string> paths) {
  LabelledImages images;
  CommonLayout common;
  for (const std::string& path : paths) {
    const std::vector<uint8_t> bytes = readFile(path, largestCifarFile);
    const CifarBatch batch = valueOrThrow(parseCifar(bytes), path);
    common.add(*batch.layout, path);
    images.labels.insert(images.labels.end(), batch.labels.begin(), batch.labels.end());
    for (int64_t i = 0; i < batch.count(); ++i) appendInterleaved(batch.planes(i), images.pixels);
  }
  images.info = common.info();
  return std::make_unique<MemoryDataset>(std::move(images));
}

}  // namespace tandem

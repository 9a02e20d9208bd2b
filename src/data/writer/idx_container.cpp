#include <algorithm>

#include "base/text.h"
#include "data/dataset/memory_dataset.h"
#include "data/writer/pixel_records.h"
#include "formats/dataset/idx.h"

namespace tandem {
namespace {

constexpr int64_t mostClasses = 256;

/// The label, then the pixels.
std::vector<uint8_t> recordOf(const DatasetInfo& info, const WrittenSample& sample) {
  std::vector<uint8_t> record(1 + sample.bytes.size());
  record.front() = classByte(info, sample);
  std::ranges::copy(sample.bytes, record.begin() + 1);
  return record;
}

Idx imagesIdx(const DatasetInfo& info, int64_t images) {
  return {.dimensions = 3, .sizes = {images, info.height, info.width}, .values = {}};
}

void joinSplits(std::span<const ShardPlace> splits) {
  for (const ShardPlace& place : splits) {
    const DatasetInfo& info = place.info();
    const PixelRecords records(place, 1 + info.height * info.width);
    const std::string begin = concat(place.folder, '/', place.split().trains() ? "train" : "t10k");
    AtomicFile images(begin + "-images-idx3-ubyte"), labels(begin + "-labels-idx1-ubyte");
    images.append(idxHeader(imagesIdx(info, records.size())));
    labels.append(idxHeader({.dimensions = 1, .sizes = {records.size()}, .values = {}}));
    records.read([&](std::span<const uint8_t> record) {
      labels.append(record.first(1));
      images.append(record.subspan(1));
    });
    labels.commit();
    images.commit();
  }
}

std::string breachOf(std::span<const NewSplit> splits) {
  const IdxLimits limits;
  for (const NewSplit& split : splits) {
    const DatasetInfo& info = split.info;
    if (info.channels != 1) return "holds grey pixels alone, and these are in colour; give --samples=grey";
    if (const auto breach = classesBreach(info, mostClasses); !breach.empty()) return breach;
    const bool isSmall = info.height <= limits.edge && info.width <= limits.edge && split.images <= limits.count &&
                         imagesIdx(info, split.images).fileBytes() <= largestIdxFile;
    if (!isSmall) {
      return concat("would have a file of ", split.images, " images of ", info.height, " x ", info.width,
                    " pixels; one of at most ", largestIdxFile, " bytes is read, so give a smaller --size");
    }
  }
  return twoSplitsBreach(splits);
}

constexpr std::string_view labels[] = {"class"};

}  // namespace

const ContainerEntry idxContainer{.name = "idx",
                                  .summary = "grey pixels of one size in MNIST's four files",
                                  .ending = recordsEnding,
                                  .files = false,
                                  .pixels = true,
                                  .needsClasses = true,
                                  .labels = labels,
                                  .open = [](const ShardPlace& place) { return recordWriter(place, recordOf); },
                                  .join = joinSplits,
                                  .breach = breachOf};

}  // namespace tandem

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "data/dataset/memory_dataset.h"
#include "data/writer/pixel_records.h"
#include "formats/dataset/cifar.h"

namespace tandem {
namespace {

/// What a kind of CIFAR calls its files.
struct CifarFiles {
  const CifarLayout& layout;
  std::string_view training, test, names;  ///< without the number of a training file
  int64_t trainingFiles;                   ///< 1: its file has no number
};

const CifarFiles kinds[] = {
    {cifarLayouts()[0], "data_batch_", "test_batch", "batches.meta.txt", 5},
    {cifarLayouts()[1], "train", "test", "fine_label_names.txt", 1},
};

/// The first kind that has so many classes. REQUIRES: one has.
const CifarFiles& filesFor(int64_t classes) {
  return *std::ranges::find_if(kinds, [=](const CifarFiles& kind) { return kind.layout.classes >= classes; });
}

std::vector<uint8_t> recordOf(const DatasetInfo& info, const WrittenSample& sample) {
  return cifarRecord(filesFor(info.classes).layout, classByte(info, sample), sample.bytes);
}

/// Images in a file of a split at most.
int64_t imagesInFile(const CifarFiles& files, bool training, int64_t images) {
  const int64_t count = training ? files.trainingFiles : 1;
  return (images + count - 1) / count;
}

/// What of a file of so many images would not be read as it is meant; empty: nothing.
std::string fileBreach(const CifarLayout& layout, int64_t images) {
  const auto bytes = static_cast<uint64_t>(images * layout.recordBytes());
  const CifarLayout* const readAs = cifarLayoutOf(bytes);
  if (readAs != &layout) {
    return concat("would have a file of ", images, " images, whose ", bytes, " bytes are read as one of ", readAs->name,
                  "; give another number of images");
  }
  if (bytes <= largestCifarFile) return {};
  return concat("would have a file of ", bytes, " bytes; one of at most ", largestCifarFile,
                " is read, so give fewer images");
}

bool nameLines(const std::vector<std::string>&) { return true; }

/// A file of a split, after the files before it.
std::string pathOf(const ShardPlace& place, const CifarFiles& files, int64_t number) {
  const bool training = place.split().trains();
  const std::string suffix = training && files.trainingFiles > 1 ? concat(number) : "";
  return concat(place.folder, '/', training ? files.training : files.test, suffix, ".bin");
}

void joinSplit(const ShardPlace& place, const CifarFiles& files) {
  const PixelRecords records(place, files.layout.recordBytes());
  const int64_t inFile = imagesInFile(files, place.split().trains(), records.size());
  for (const int64_t images : {inFile, records.size() % inFile}) {
    if (const auto breach = images > 0 ? fileBreach(files.layout, images) : ""; !breach.empty()) {
      throw DataError(concat(place.folder, ' ', breach));
    }
  }
  std::optional<AtomicFile> file;
  int64_t written = 0;
  records.read([&](std::span<const uint8_t> record) {
    if (written % inFile == 0) {
      if (file) file->commit();
      file.emplace(pathOf(place, files, 1 + written / inFile));
    }
    file->append(record);
    ++written;
  });
  file->commit();
}

void joinSplits(std::span<const ShardPlace> splits) {
  const DatasetInfo& info = splits.front().info();
  const CifarFiles& files = filesFor(info.classes);
  for (const ShardPlace& place : splits) joinSplit(place, files);
  const std::string names = join(classNamesFor(info, nameLines), "\n") + '\n';
  writeAtomically(concat(splits.front().folder, '/', files.names), asBytes(names));
}

std::string breachOf(std::span<const NewSplit> splits) {
  constexpr int64_t edge = CifarLayout::edge;
  for (const NewSplit& split : splits) {
    const DatasetInfo& info = split.info;
    if (info.height != edge || info.width != edge || info.channels != 3) {
      return concat("holds pixels of ", edge, " x ", edge, " in colour, and these are ", info.height, " x ", info.width,
                    info.channels == 1 ? " and grey" : "", "; give --samples=pixels --size=", edge);
    }
    const int64_t mostClasses = cifarLayouts().back().classes;
    if (const auto breach = classesBreach(info, mostClasses); !breach.empty()) return breach;
    const CifarFiles& files = filesFor(info.classes);
    const std::string breach = fileBreach(files.layout, imagesInFile(files, split.trains(), split.images));
    if (!breach.empty()) return breach;
  }
  return twoSplitsBreach(splits);
}

constexpr std::string_view labels[] = {"class"};

}  // namespace

const ContainerEntry cifarContainer{
    .name = "cifar",
    .summary =
        "pixels of 32 x 32 in the binary files of CIFAR-10, or of CIFAR-100 where there are more than 10 classes",
    .ending = recordsEnding,
    .files = false,
    .pixels = true,
    .needsClasses = true,
    .labels = labels,
    .open = [](const ShardPlace& place) { return recordWriter(place, recordOf); },
    .join = joinSplits,
    .breach = breachOf};

}  // namespace tandem

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset/data_split.h"
#include "data/dataset/dataset.h"
#include "formats/image/image.h"
#include "formats/io/summed_file.h"

namespace tandem {

/// A sample on its way into a container.
struct WrittenSample {
  std::vector<uint8_t> bytes;           ///< an image file, or pixels of the size that all have
  const ImageFormat* format = nullptr;  ///< of the image file; null: pixels
  std::vector<uint8_t> label;           ///< in the form of the data set's labels
  int64_t index = 0;                    ///< in the split that it comes from
};

/// A split that is written.
struct NewSplit {
  std::string name;  ///< as DataSplitEntry::written
  int64_t images = 0;
  DatasetInfo info = {};                                  ///< of its samples: 0 x 0 x 0 for image files
  std::function<WrittenSample(int64_t index)> make = {};  ///< any thread; throws DataError for one that cannot be read

  bool trains() const { return name == rowOf(DataSplit::training).written; }
};

/// A part of a split that is written at once.
struct ShardPlace {
  std::string folder;                ///< of the data set
  std::span<const NewSplit> splits;  ///< of the data set
  size_t number = 0;                 ///< of the shard's split in `splits`
  int64_t shard = 0, count = 1;      ///< its number, from 0, and the shards of the split

  const NewSplit& split() const { return splits[number]; }
  const DatasetInfo& info() const { return split().info; }
  /// "FOLDER/train-00003-of-00128" and the ending.
  std::string path(std::string_view ending) const;
};

/// Writes the samples of a shard in their order. All members throw StorageError.
class ShardWriter {
 public:
  virtual ~ShardWriter() = default;
  virtual void add(const WrittenSample& sample) = 0;
  /// Brings all to disk. Only then the shard is there under its name. REQUIRES: this is the last call.
  virtual FileSum commit() = 0;
};

/// A row of the containers that data sets are written to.
struct ContainerEntry {
  std::string_view name, summary;
  std::string_view ending;                         ///< of the names of its shards
  bool files = true;                               ///< whether it can hold image files
  bool pixels = false;                             ///< whether it can hold pixels
  std::string_view encoding = {};                  ///< row of imageEncodings() of all its image files; empty: any
  bool needsClasses = false;                       ///< whether the number of classes must be known
  std::span<const std::string_view> labels;        ///< the kinds of labels that it can hold
  std::span<const std::string_view> classes = {};  ///< the names of the only classes that it can hold; empty: any
  std::unique_ptr<ShardWriter> (*open)(const ShardPlace& place);
  /// Makes the files of the data set of all shards, if it has these for its own use only. `splits`: the first shard of
  /// each split. Shards are removed later. Null: they are the data set.
  void (*join)(std::span<const ShardPlace> splits) = nullptr;
  /// What of the splits it cannot hold, and what to do; empty: nothing. Null: it holds all that the rest of the row
  /// allows.
  std::string (*breach)(std::span<const NewSplit> splits) = nullptr;

  bool holds(const LabelKind& kind) const;
};

/// packed, webdataset, tfrecord, lmdb, folder, chestxray14, idx, cifar.
std::span<const ContainerEntry> containers();

/// "packed or folder": the containers for which `fits` is true.
std::string containersThat(const std::function<bool(const ContainerEntry& container)>& fits);

/// What of the splits the container cannot hold beyond kinds of samples, and what to do; empty: nothing.
std::string containerBreach(const ContainerEntry& container, std::span<const NewSplit> splits);

/// With zeros in front, so that names are in the order of their numbers.
std::string digits(int64_t number, size_t width);

/// The data set's own names of classes, if they serve; else class00000 and so on. REQUIRES: the number is known.
std::vector<std::string> classNamesFor(const DatasetInfo& info, bool (*serve)(const std::vector<std::string>& names));

/// The rows of containers(), one source each.
extern const ContainerEntry packedContainer, webContainer, tfContainer, lmdbContainer, folderContainer, xrayContainer,
    idxContainer, cifarContainer;

}  // namespace tandem

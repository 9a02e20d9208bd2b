#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// A part of a split that is written at once.
struct ShardPlace {
  std::string folder;     ///< of the data set
  std::string split;      ///< "train", "val"
  int64_t number = 0;     ///< of `count`, from 0
  int64_t count = 1;      ///< shards of the split
  DatasetInfo info = {};  ///< of what is written: 0 x 0 x 0 for image files

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
  std::string_view ending;                   ///< of the names of its shards
  bool pixels = false;                       ///< whether it can hold pixels, beside image files
  bool needsClasses = false;                 ///< whether the number of classes must be known
  std::span<const std::string_view> labels;  ///< the kinds of labels that it can hold
  std::unique_ptr<ShardWriter> (*open)(const ShardPlace& place);
  /// Makes one file of those of all shards of a split, if it has them for its own use only; `place`: of any of them.
  /// They are removed later. Null: they are the data set.
  void (*join)(const ShardPlace& place) = nullptr;
};

/// packed, webdataset, tfrecord, folder.
std::span<const ContainerEntry> containers();

/// With zeros in front, so that names are in the order of their numbers.
std::string digits(int64_t number, size_t width);

/// The rows of containers(), one source each.
extern const ContainerEntry packedContainer, webContainer, tfContainer, folderContainer;

}  // namespace tandem

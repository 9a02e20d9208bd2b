#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/dataset/data_split.h"
#include "data/dataset/labels.h"
#include "kernels/tensor/normalize.h"

namespace tandem {

/// Shape and number of classes of a data set's images.
struct DatasetInfo {
  /// "cifar10", "cifar100", "idx", "image folder", "tfrecord", "webdataset", "lmdb", "packed", "synthetic"
  std::string name;
  int64_t height = 0, width = 0, channels = 0;      ///< of each image; 0: image files, each with a size of its own
  int64_t classes = 0;                              ///< 0: not known, labels are -1
  Normalization normalization = {};                 ///< of the training images
  const LabelKind* labels = &labelKinds().front();  ///< row of the catalog
  std::vector<std::string> classNames = {};         ///< as oneLineNames() gives them; empty: not known
  bool sharded = false;                             ///< whether samples follow one another in files: shardEnds()
  bool onDisk = false;                              ///< whether pixels are read from a file for each sample
  bool labelsInside = false;                        ///< whether a label is part of what a whole sample is read from
  std::optional<DataSplit> split = {};              ///< whose images these are; none: it has no splits

  bool encoded() const { return height == 0; }
  /// Whether a sample is read when it is asked for, and may be found damaged then. Else all are in memory.
  bool readsFiles() const { return encoded() || onDisk; }
};

/// A sample as its data set keeps it: the pixels of an image [height, width, channels], or, where these are 0, the
/// bytes of an image file.
struct Sample {
  std::span<const uint8_t> bytes;
  int64_t height = 0, width = 0, channels = 0;

  bool encoded() const { return height == 0; }
};

/// The names, if each is a line of text in UTF-8 without controls, and no two are equal; else none.
std::vector<std::string> oneLineNames(std::vector<std::string> names);

/// Labelled images by index. Thread-safe.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const DatasetInfo& info() const = 0;
  virtual int64_t size() const = 0;
  /// The sample, in `memory` or in memory of the data set, and its label in the form of info().labels. REQUIRES:
  /// `label` has labelBytes(). Throws DataError "PATH: REASON" for one that cannot be read; its label is then written
  /// all the same, as class -1 where it is not known.
  virtual Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const = 0;
  /// The label alone, as read() writes it; throws as read() for a label that cannot be read. Reads no image, unless
  /// info().labelsInside or the images are in memory.
  virtual void readLabel(int64_t index, std::span<uint8_t> label) const;
  /// What a message calls a sample: its file, or its number in the data set.
  virtual std::string nameOf(int64_t index) const;
  /// Where samples follow one another in files: the number of samples up to the end of each file. Empty: they do not.
  virtual std::span<const int64_t> shardEnds() const { return {}; }
};

/// A data set has no images of the split that was asked for, nor of its stand-in, and has others.
struct MissingSplit : DataError {
  using DataError::DataError;
};

struct DatasetOptions {
  DataSplit split = DataSplit::training;
  const Normalization* normalization = nullptr;  ///< in place of the data set's own
  int64_t classes = 0;                           ///< where the data set does not say how many it has
};

/// Opens the images that a path names. A folder is recognised by its content: packed shards; CIFAR-10's or CIFAR-100's
/// binary batches or pickles; MNIST's IDX pair, plain or gzip; a folder for each class; a table of labels; TFRecords;
/// WebDataset; tensorpack's LMDB; ChestX-ray14. A path may also name a table of labels, or one shard. Where the split
/// has no images, those of its stand-in are opened; without any splits all images are of each. Images of other splits
/// have the classes and the normalization of the training images beside them, if there are some. Throws DataError that
/// names file, offset or line, value and rule; MissingSplit.
std::unique_ptr<Dataset> openDataset(const std::string& path, const DatasetOptions& options = {});

/// A data set as its files' names, headers and labels describe it.
struct DatasetFacts {
  DatasetInfo info;  ///< without a normalization that takes reading all pixels
  int64_t images = 0;

  /// Bytes of pixels that are kept in memory.
  int64_t bytes() const { return info.onDisk ? 0 : images * info.height * info.width * info.channels; }
};

/// Describes the images that openDataset() would open, without reading pixels. Throws the same errors, but finds damage
/// behind headers and labels only when the data set is opened.
DatasetFacts probeDataset(const std::string& path, DataSplit split = DataSplit::training);

/// `size` random colour images with random labels, which are functions of (seed, index). `info` gives height, width,
/// classes and labels.
std::unique_ptr<Dataset> syntheticDataset(int64_t size, DatasetInfo info, uint64_t seed);

}  // namespace tandem

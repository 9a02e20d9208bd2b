#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "data/dataset/labels.h"
#include "kernels/tensor/normalize.h"

namespace tandem {

/// Shape and number of classes of a data set's images.
struct DatasetInfo {
  std::string name;  ///< "cifar10", "idx", "synthetic"
  int64_t height = 0, width = 0, channels = 0, classes = 0;
  Normalization normalization;                      ///< of the training images
  const LabelKind* labels = &labelKinds().front();  ///< row of the catalog
};

/// Labelled images of equal size, by index. Thread-safe.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const DatasetInfo& info() const = 0;
  virtual int64_t size() const = 0;
  /// Writes the image as bytes [H, W, C], and its label in the form of info().labels. REQUIRES: spans of these sizes.
  virtual void get(int64_t index, std::span<uint8_t> image, std::span<uint8_t> label) const = 0;
};

enum class DataSplit { training, test };

/// Opens the images of a folder: CIFAR-10's binary batches or MNIST's IDX pair, plain or gzip, recognised by content.
/// Test images have the classes and the normalization of the training images beside them. Throws DataError that names
/// file, offset, value and rule.
std::unique_ptr<Dataset> openDataset(const std::string& folder, DataSplit split = DataSplit::training);

/// A data set as its files' headers and labels describe it.
struct DatasetFacts {
  DatasetInfo info;  ///< without the normalization, which takes reading all pixels
  int64_t images = 0;

  int64_t bytes() const { return images * info.height * info.width * info.channels; }
};

/// Describes the training images that openDataset() would open, without reading pixels. Throws the same errors, but
/// finds damage behind headers and labels only when the data set is opened.
DatasetFacts probeDataset(const std::string& folder);

/// `size` random colour images with random labels, which are functions of (seed, index). `info` gives height, width,
/// classes and labels.
std::unique_ptr<Dataset> syntheticDataset(int64_t size, DatasetInfo info, uint64_t seed);

}  // namespace tandem

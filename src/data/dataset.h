#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/normalize.h"

namespace tandem {

/// Shape and number of classes of what a data set gives.
struct DatasetInfo {
  std::string name;  ///< "cifar10", "idx", "synthetic"
  int64_t height = 0, width = 0, channels = 0, classes = 0;
  Normalization normalization;  ///< measured over the training images
};

/// Labelled images of one size, by index. Thread-safe.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const DatasetInfo& info() const = 0;
  virtual int64_t size() const = 0;
  /// Writes the image as bytes [H, W, C] and returns the label. REQUIRES: out.size() == H * W * C.
  virtual int64_t get(int64_t index, std::span<uint8_t> out) const = 0;
};

/// Opens the training images of a folder: CIFAR-10's binary batches or MNIST's IDX pair, plain or gzip, told apart by
/// content. Throws DataError naming file, offset, value and rule.
std::unique_ptr<Dataset> openDataset(const std::string& folder);

/// `size` random images, different for each index and the same for each (seed, index); never zeros.
std::unique_ptr<Dataset> syntheticDataset(int64_t size, int64_t height, int64_t width, int64_t classes, uint64_t seed);

}  // namespace tandem

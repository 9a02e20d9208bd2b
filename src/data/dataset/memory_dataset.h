#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset/dataset.h"

namespace tandem {

struct LabelledImages {
  DatasetInfo info;
  std::vector<uint8_t> pixels;  ///< [N, H, W, C]
  std::vector<uint8_t> labels;  ///< [N]
};

/// What mean and deviation follow from: sums over pixels, and over their squares, of each channel.
struct ChannelSums {
  std::array<uint64_t, 3> sums = {}, squares = {};

  /// Adds pixels [.., C]. REQUIRES: channels is 1 or 3.
  void add(std::span<const uint8_t> pixels, int64_t channels);
  void add(const ChannelSums& other);
  /// As measureNormalization(), of so many pixels. REQUIRES: at least one.
  Normalization normalization(int64_t pixels, int64_t channels) const;
};

/// Mean and deviation of each channel over all pixels [.., C]; a constant channel gets deviation 1. The one channel of
/// grey images is repeated three times. REQUIRES: channels is 1 or 3, and there is at least one pixel.
Normalization measureNormalization(std::span<const uint8_t> pixels, int64_t channels);

/// Images held in memory. Computes info.normalization from the pixels.
class MemoryDataset final : public Dataset {
 public:
  /// REQUIRES: at least one image; the sizes of pixels and labels agree with info.
  explicit MemoryDataset(LabelledImages images);
  const DatasetInfo& info() const override { return images_.info; }
  int64_t size() const override { return static_cast<int64_t>(images_.labels.size()); }
  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override;

 private:
  LabelledImages images_;
  int64_t imageBytes_;
};

/// The largest files that are read: of CIFAR, and of IDX, there also of what is in a .gz.
constexpr uint64_t largestCifarFile = uint64_t{1} << 31, largestIdxFile = uint64_t{1} << 32;

/// The records of files of CIFAR-10 or CIFAR-100, in the given order. Throws DataError. REQUIRES: `paths` is not empty.
std::unique_ptr<Dataset> openCifarFiles(std::span<const std::string> paths);
DatasetFacts probeCifarFiles(std::span<const std::string> paths);

/// An IDX file of images and one of labels, each plain or gzip. Throws DataError.
std::unique_ptr<Dataset> openIdxFiles(const std::string& imagesPath, const std::string& labelsPath);
DatasetFacts probeIdxFiles(const std::string& imagesPath, const std::string& labelsPath);

}  // namespace tandem

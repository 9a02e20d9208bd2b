#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/transform/counter_random.h"
#include "data/transform/working_image.h"
#include "formats/image/image.h"

namespace tandem {

/// Grey images made for flags, which a network can learn: an image has flag k exactly if a figure of k is drawn into
/// it. For the first flags a figure is an image of class k of a data set, for those behind its classes a pattern of 8 x
/// 8 squares that is always the same. Each lies in a cell of its own, of a grid that has one for each flag, at a random
/// place and in a random size. Image and flags are functions of (seed, index). Thread-safe.
class FlaggedImages {
 public:
  struct Drawn {
    Image image;
    std::vector<uint8_t> flags;
  };

  /// `figures`: pixels with one class for each image; null: patterns alone.
  FlaggedImages(std::shared_ptr<const Dataset> figures, int64_t flags, const ImageSize& size, uint64_t seed);

  /// Throws DataError for a figure that cannot be read.
  Drawn make(int64_t index) const;

  /// The shorter side that images of so many flags have at least.
  static int64_t leastSide(int64_t flags);

 private:
  void draw(int64_t flag, const ImageWindow& place, CounterRandom& random, Image& image) const;
  /// Scaled to the size of the place: [H, W, 3].
  std::vector<uint8_t> figureOf(int64_t flag, const ImageWindow& place, CounterRandom& random) const;

  const std::shared_ptr<const Dataset> figures_;
  std::vector<std::vector<int64_t>> ofClass_;  // indices of the figures of each class
  const int64_t flags_, grid_;                 // grid_: cells of a row, and of a column
  const ImageSize size_;
  const uint64_t seed_;
};

}  // namespace tandem

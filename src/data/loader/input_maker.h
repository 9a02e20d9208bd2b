#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/transform/transform_chain.h"

namespace tandem {

/// Where an input and its label are written: [H, W, 3], and labelBytes() bytes.
struct InputPlace {
  std::span<uint8_t> image, label;
  std::vector<uint8_t>& memory;  ///< kept from image to image
};

/// Makes a network's inputs of a data set's samples: reads, decodes where a sample is an image file, transforms.
/// Thread-safe.
class InputMaker {
 public:
  /// REQUIRES: `dataset` outlives the object.
  InputMaker(const Dataset& dataset, TransformChain chain, const ImageSize& input)
      : dataset_(dataset), chain_(std::move(chain)), input_(input) {}

  /// Throws DataError that names the sample and the reason.
  void make(int64_t index, CounterRandom random, const InputPlace& out) const;

  /// Why the data set's images do not come out as inputs; empty: they do.
  std::string fault() const;
  const ImageSize& input() const { return input_; }
  size_t inputBytes() const { return static_cast<size_t>(input_.height * input_.width * 3); }

 private:
  const Dataset& dataset_;
  TransformChain chain_;
  ImageSize input_;
};

}  // namespace tandem

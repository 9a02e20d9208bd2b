#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "data/dataset/dataset.h"
#include "data/transform/transform_chain.h"

namespace tandem {

/// What is kept from image to image, so that its memory need not be taken anew.
struct InputMemory {
  std::vector<uint8_t> bytes;
  Image image;
};

/// What the time of making inputs goes into, beside the transforms.
struct InputTimes {
  Nanos read{}, decode{};
};

/// Where an input and its label are written: [H, W, 3], and labelBytes() bytes.
struct InputPlace {
  std::span<uint8_t> image, label;
  InputMemory& memory;
  InputTimes* times = nullptr;  ///< to which its times are added; null: nobody asks
};

/// Makes a network's inputs of a data set's samples: reads, decodes where a sample is an image file, transforms.
/// Thread-safe.
class InputMaker {
 public:
  /// `parts`: image files are decoded only as far as they are seen (DecodingEntry). REQUIRES: `dataset` outlives the
  /// object.
  InputMaker(const Dataset& dataset, TransformChain chain, const ImageSize& input, bool parts = false)
      : dataset_(dataset), chain_(std::move(chain)), input_(input), parts_(parts) {}

  /// Throws DataError that names the sample and the reason.
  void make(int64_t index, ImageDraw draw, const InputPlace& out) const;

  /// Why the data set's images do not come out as inputs; empty: they do.
  std::string fault() const;
  const ImageSize& input() const { return input_; }
  size_t inputBytes() const { return static_cast<size_t>(input_.height * input_.width * 3); }

 private:
  void transform(WorkingImage image, ImageDraw& draw, const InputPlace& out) const;
  void transformFile(std::span<const uint8_t> bytes, ImageDraw& draw, const InputPlace& out) const;

  const Dataset& dataset_;
  TransformChain chain_;
  ImageSize input_;
  bool parts_;
};

}  // namespace tandem

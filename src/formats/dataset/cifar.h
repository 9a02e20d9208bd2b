#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/io/result.h"

namespace tandem {

/// What differs between the kinds of CIFAR (https://www.cs.toronto.edu/~kriz/cifar.html). An image is 32 x 32 red,
/// green and blue bytes, each plane in row-major order. A record of the "binary version" is its label bytes, then the
/// image.
struct CifarLayout {
  static constexpr int64_t edge = 32;
  static constexpr int64_t planeBytes = edge * edge;
  static constexpr int64_t imageBytes = 3 * planeBytes;

  std::string_view name;     ///< "CIFAR-10", "CIFAR-100"
  std::string_view dataset;  ///< "cifar10", "cifar100"
  int64_t labelBytes;        ///< the last is the class; the one before, if there is one, a class of classes
  int64_t classes;
  int64_t groups;                       ///< classes of classes; 0: none
  std::string_view labelKey, groupKey;  ///< of the lists of labels in the "python version"

  int64_t recordBytes() const { return labelBytes + imageBytes; }
};

/// CIFAR-10, CIFAR-100.
std::span<const CifarLayout> cifarLayouts();

/// The layout of a binary file of this size; null: of none. Where the size serves several, that is the first.
const CifarLayout* cifarLayoutOf(uint64_t bytes);

/// The images of a file with their classes. They lie in the parsed bytes, or in `memory`.
struct CifarBatch {
  const CifarLayout* layout = nullptr;
  std::vector<uint8_t> labels;
  std::span<const uint8_t> images;  ///< from the first image on
  int64_t stride = 0;               ///< bytes from one image to the next
  std::shared_ptr<const void> memory;

  int64_t count() const { return std::ssize(labels); }
  /// Shape [3, 32, 32].
  std::span<const uint8_t> planes(int64_t i) const { return images.subspan(i * stride, CifarLayout::imageBytes); }
};

/// Reads a file of the binary or of the Python version. Of the binary version it refuses an empty file, a length that
/// is no multiple of a record's, and a label beyond the classes; of the other what parseCifarPickle() refuses.
Result<CifarBatch> parseCifar(std::span<const uint8_t> bytes);

/// The record of an image [32, 32, 3] with its class. Its class of classes, where the layout has one, is 0: data sets
/// do not say it.
std::vector<uint8_t> cifarRecord(const CifarLayout& layout, uint8_t label, std::span<const uint8_t> pixels);

/// A label of a file: a class, or a class of classes.
struct CifarLabel {
  int64_t value, image;  ///< image: its number in the file, from 0
  bool isGroup;
  uint64_t offset;
};

/// The error for a label beyond those of the layout; none for others.
std::optional<ParseError> refuseCifarLabel(const CifarLayout& layout, const CifarLabel& label);

}  // namespace tandem

#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/transform/counter_random.h"

namespace tandem {

/// A row of the catalog of labels: the form of an image's label. A loss reads one kind, a data set provides one.
struct LabelKind {
  std::string_view name, summary;
  at::ScalarType type;
  /// The shape of one image's label for a network of `classes`; empty: a single number.
  std::vector<int64_t> (*shape)(int64_t classes);
  /// Writes one image's random label in that shape and type.
  void (*draw)(CounterRandom& random, int64_t classes, std::span<uint8_t> out);
  /// The fault of one image's label for a network of `classes`; empty: none.
  std::string (*breach)(std::span<const uint8_t> label, int64_t classes);
  /// The classes that one image has, each as often as it has it.
  std::vector<int64_t> (*classesIn)(std::span<const uint8_t> label);
  bool mixable = true;  ///< whether the labels of two images can be mixed: as shares of classes

  /// Whether an image has one class and no more.
  bool isOneClass() const { return shape(1).empty(); }
};

/// class: [] int64, the number of the image's only class. flags: [classes] uint8, 1 for each class of the image. boxes:
/// [8, 5] float, in the form of kernels/loss/losses.h.
std::span<const LabelKind> labelKinds();

/// Bytes of one image's label.
size_t labelBytes(const LabelKind& kind, int64_t classes);

/// Writes a label of kind `class` into its bytes.
void storeClass(int64_t label, std::span<uint8_t> out);

}  // namespace tandem

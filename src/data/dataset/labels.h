#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/transform/counter_random.h"

namespace tandem {

/// A row of the catalog of labels: what stands beside each image. A loss reads one kind, a data set gives one.
struct LabelKind {
  std::string_view name, summary;
  at::ScalarType type;
  /// Shape of one image's label for a network of `classes`; empty: one number.
  std::vector<int64_t> (*shape)(int64_t classes);
  /// One image's random label, into bytes of that shape and type.
  void (*draw)(CounterRandom& random, int64_t classes, std::span<uint8_t> out);
  /// What is wrong with one image's label for a network of `classes`; empty: nothing.
  std::string (*breach)(std::span<const uint8_t> label, int64_t classes);
};

/// class: [] int64, the number of the image's one class. flags: [classes] uint8, 1 for each class that the image has.
/// boxes: [8, 5] float, as kernels/loss/multibox.h reads them.
std::span<const LabelKind> labelKinds();

/// Bytes of one image's label.
size_t labelBytes(const LabelKind& kind, int64_t classes);

/// Puts the label of kind `class` into its bytes.
void storeClass(int64_t label, std::span<uint8_t> out);

}  // namespace tandem

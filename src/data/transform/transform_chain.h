#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/transform/transform.h"

namespace tandem {

/// Transforms, one after the other: "resize:264+random_crop:224+flip". Each is the name of a row of transforms() and,
/// behind colons, values of its parameters in their order; those left out are the row's own.
class TransformChain {
 public:
  struct Step {
    const TransformEntry* entry;
    TransformValues values;
  };

  /// Throws UsageError that names `option`, the transform, the value and the rule.
  static TransformChain parse(std::string_view text, std::string_view option);

  void append(const TransformChain& more) { steps_.insert(steps_.end(), more.steps_.begin(), more.steps_.end()); }
  /// Applies all. Throws DataError for an image that a transform cannot take.
  void apply(WorkingImage& image, const TransformContext& context) const;

  /// Why images of this size do not come out as large as the network's input; empty: they do. A size of 0: each image
  /// has its own.
  std::string fault(const ImageSize& images, const ImageSize& input) const;

  std::span<const Step> steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

}  // namespace tandem

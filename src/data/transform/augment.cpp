#include "data/transform/augment.h"

#include <algorithm>

#include "base/catalog.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr std::string_view option = "--augment";

constexpr AugmentEntry table[] = {
    {"standard", "random crop after zero padding of 4 pixels, random horizontal flip", "pad+random_crop:0:4+flip",
     /*ofPixels=*/true},
    {"crop", "random crop after zero padding of 4 pixels", "pad+random_crop:0:4"},
    {"none", "images as they are", "pad"},
    {"imagenet", "a random part of 8 to 100 % of the area, scaled to the input, random horizontal flip",
     "random_resized_crop+flip", false, /*ofFiles=*/true},
    {"airbench", "random crop after mirrored padding of 2 pixels, mirrored in every other epoch",
     "pad+alternating_flip+reflect:2+random_crop"},
    {"chexnet", "scaled to 264, random crop, random horizontal flip, turned by up to 10 degrees",
     "resize:264+random_crop+flip+rotation:10"},
    {"center", "scaled to 256/224 of the input, the middle cropped: as networks are tested", "resize+center_crop"},
};

}  // namespace

std::span<const AugmentEntry> augments() { return table; }

Augmentation augmentationOf(std::string_view text) {
  const bool isTransform = std::ranges::find(transforms(), text, &TransformEntry::name) != transforms().end();
  const bool isChain = isTransform || text.find_first_of("+:") != text.npos;
  return {std::string(text), TransformChain::parse(isChain ? text : find(augments(), text, option).chain, option)};
}

std::string_view usualAugment(bool encoded) {
  return std::ranges::find(table, true, encoded ? &AugmentEntry::ofFiles : &AugmentEntry::ofPixels)->name;
}

TransformChain inOrderOf(const NormalizationEntry* normalization, TransformChain chain) {
  if (normalization != nullptr && !normalization->transform.empty())
    chain.append(TransformChain::parse(normalization->transform, option));
  return chain;
}

const TransformChain& paddedOnly() {
  static const TransformChain chain = TransformChain::parse("pad:0", option);
  return chain;
}

TransformChain scaledAndCropped(int64_t side, const Interpolation& by) {
  return TransformChain::parse(concat("resize:", side, ':', by.name, "+center_crop:0"), "--resize");
}

}  // namespace tandem

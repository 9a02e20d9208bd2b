#pragma once

#include <cstdint>

#include "data/transform/working_image.h"
#include "device/batch.h"

namespace tandem {

/// How neighbours in a global batch, images 2 i and 2 i + 1, are mixed. Which images are neighbours is as random as the
/// order of the epoch, so a batch is the same for any number of replicas that have whole pairs.
///
/// mixup (Zhang et al. 2018, arXiv:1710.09412): each becomes a share of itself and the rest of the other. cutmix (Yun
/// et al. 2019, arXiv:1905.04899): they exchange a rectangle. With both, each pair takes one of them by chance. Labels
/// are mixed alike.
struct Mixing {
  double mixup = 0, cutmix = 0;  ///< parameters of the beta distributions that shares are drawn from; 0: not used
  uint64_t seed = 0;
  int64_t classes = 0;

  bool any() const { return mixup > 0 || cutmix > 0; }
};

/// What an image of a pair keeps of itself: `share` of each pixel, but none of the pixels in `window`.
struct PairShare {
  double share = 1;
  ImageWindow window = {};
};

/// That of pair `pair` of global batch k, whose images have the size: a function of these and the mixing alone.
PairShare pairShare(const Mixing& mixing, int64_t k, int64_t pair, const ImageSize& size);

/// Mixes images [N, C, H, W] of a floating type with their neighbours. `first` is the place of the first image in
/// global batch k. Labels, [N] classes or [N, classes] flags, become [N, classes] fp32, the share of each class. On a
/// GPU it only enqueues work. REQUIRES: `first` and N are even.
void mixNeighbours(const Mixing& mixing, int64_t k, int64_t first, Batch& batch);

}  // namespace tandem

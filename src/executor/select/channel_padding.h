#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/timing_cache.h"
#include "device/memory_layout.h"
#include "device/precision.h"
#include "executor/compile/fusion.h"
#include "graph/graph.h"
#include "kernels/cudnn/conv.h"

namespace tandem {

/// Tensor cores multiply channels by fours or eights, an image has three. Channels of zeros behind an image's own
/// change no result: the convolution that reads them has a weight as wide, whose further columns count for nothing.
struct ImagePaddingEntry {
  std::string_view name, summary;
  int64_t multiple;  ///< of channels, to which zeros fill up
};

/// none, 4, 8.
std::span<const ImagePaddingEntry> imagePaddings();

/// Whether convolutions without groups, and nothing else, read the images.
bool canPadImages(const Graph& graph);

/// How many channels of zeros a padding adds. REQUIRES: it adds none, or canPadImages().
int64_t zeroChannels(const Graph& graph, const ImagePaddingEntry& padding);

/// The plan for images with so many channels of zeros behind their own: what reads them knows of it
/// (PlannedNode::zeroChannels). REQUIRES: no zeros, or canPadImages().
std::vector<PlannedNode> withPaddedImages(std::vector<PlannedNode> plan, const Graph& graph, int64_t zeros);

struct PaddingTrial {
  const Precision* precision = nullptr;
  LayoutEntry layout = layouts().front();
  int64_t images = 0;  ///< that a replica computes at a time
  at::Device device = at::kCUDA;
  std::string machine;  ///< what measurements of this one are kept under
  /// Of one call, the device's work included.
  std::function<double(const std::function<void()>&)> secondsOf = {};
  /// By node, what the passes of a network's convolutions would run by, for so many images with so many channels of
  /// zeros; empty: they run by ATen.
  std::function<std::vector<PassPlans>(const Graph&, int64_t images, int64_t zeros)> engines = {};
};

struct PaddingChoice {
  const ImagePaddingEntry* padding = nullptr;
  double gain = 1;        ///< seconds without padding over those of the choice
  bool fromCache = true;  ///< false: something was measured now
};

/// The padding with which the convolutions that read the images take least time here, forward and backward, each by
/// the engines that serve it best, the normalising of the images and the copies between the weight and its wide form
/// included; another than none must be more than 3 % faster. Kept in `cache`. On the caller's thread, to which the
/// device is bound. Where nothing can be padded: none, unmeasured.
PaddingChoice fastestImagePadding(const Graph& graph, const PaddingTrial& trial, TimingCache& cache);

}  // namespace tandem

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/measuring.h"
#include "device/memory_layout.h"
#include "device/precision.h"
#include "executor/compile/fusion.h"
#include "graph/graph.h"
#include "kernels/cudnn/conv.h"

namespace tandem {

/// Tensor cores multiply channels in groups of four or eight, but an image has three. Zero channels behind them change
/// no result: the convolution that reads them has an equally wide weight, whose further columns have no effect.
struct ImagePaddingEntry {
  std::string_view name, summary;
  int64_t multiple;  ///< the number of channels is filled up to a multiple of this
};

/// none, 4, 8.
std::span<const ImagePaddingEntry> imagePaddings();

/// Whether only convolutions without groups read the images, at least one.
bool canPadImages(const Graph& graph);

/// The number of zero channels that a padding adds. REQUIRES: 0, or canPadImages().
int64_t zeroChannels(const Graph& graph, const ImagePaddingEntry& padding);

/// The plan for images with `zeros` zero channels; their readers are told (PlannedNode::zeroChannels). REQUIRES:
/// `zeros` is 0, or canPadImages().
std::vector<PlannedNode> withPaddedImages(std::vector<PlannedNode> plan, const Graph& graph, int64_t zeros);

struct PaddingTrial {
  const Precision* precision = nullptr;
  LayoutEntry layout = layouts().front();
  int64_t images = 0;  ///< that a replica computes at a time
  at::Device device = at::kCUDA;
  std::string machine;  ///< the key of this machine's measurements
  /// Seconds of one call, with the device's work.
  std::function<double(const std::function<void()>&)> secondsOf = {};
  /// By node, the plans for the passes of a network's convolutions with `images` images and `zeros` zero channels;
  /// empty: ATen's.
  std::function<std::vector<PassPlans>(const Graph&, int64_t images, int64_t zeros)> engines = {};
  MeasuringRule measuring{};
};

struct PaddingChoice {
  const ImagePaddingEntry* padding = nullptr;
  double gain = 1;        ///< seconds without padding / seconds of the choice
  bool fromCache = true;  ///< false: something was measured in this call
};

/// Chooses the padding that minimises the time of the convolutions that read the images, forward and backward, each
/// with its best plans. The time includes normalising the images and copying between the weight and its wide form. A
/// padding must be more than 3 % faster than none. Times are kept in `cache`. Runs on the calling thread, which the
/// device is bound to. If nothing can be padded: none, without a measurement.
PaddingChoice fastestImagePadding(const Graph& graph, const PaddingTrial& trial, TimingCache& cache);

}  // namespace tandem

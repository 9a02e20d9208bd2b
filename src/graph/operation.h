#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace tandem {

/// A row of the operation catalog: the rules that need no tensor. The executor holds the matching call by name.
struct Operation {
  std::string_view name;
  std::string_view summary;
  int inputs;  ///< number of inputs, -1 for two or more

  /// Output shape for one image. Throws UsageError, which states values and rule, when the inputs do not fit. Null
  /// only for `input`.
  ImageShape (*shape)(const Attributes&, std::span<const ImageShape> inputs);

  /// Parameters without node and node name: `Parameter::name` is just "weight" or "bias". Null: none.
  std::vector<Parameter> (*parameters)(const Attributes&, std::span<const ImageShape> inputs);

  /// Counted FLOPs for one image (see forwardFlops). Null: none.
  double (*flops)(const Attributes&, std::span<const ImageShape> inputs, ImageShape output);
};

/// The catalog. In brackets what each row reads of Attributes; shapes are of one image.
///
/// - input(): the images; node 0 of every graph.
/// - conv(outputs, kernelH/W, strideH/W, padding, groups, bias): cross-correlation over the zero-padded input with
///   weight [outputs, C / groups, kernelH, kernelW] and bias [outputs].
/// - linear(outputs, bias): W x + b. The input must be flat, [C, 1, 1].
/// - batch_norm(epsilon, momentum): per channel scale * (x - mean) / sqrt(variance + epsilon) + shift. In training with
///   the batch's mean and biased variance, while running = (1 - momentum) * running + momentum * batch takes the
///   unbiased variance; in evaluation with the running statistics.
/// - relu(): max(x, 0).
/// - add(): sum of two or more inputs of one shape.
/// - max_pool(kernelH/W, strideH/W, padding, ceilMode): maximum of each window; padding never wins. It is symmetric and
///   at most half the kernel. With ceilMode the last window may reach over the far edge, but does not start there.
/// - avg_pool(as max_pool): mean of each window, padding counted as zeros; what reaches over the edge is not counted.
/// - adaptive_avg_pool(poolH, poolW): [C, poolH, poolW]; output row i is the mean of the input rows from
///   floor(i * H / poolH) up to ceil((i + 1) * H / poolH), exclusive; columns alike.
/// - global_avg_pool(): [C, 1, 1], the mean of each channel.
/// - subsample(strideH, strideW): every stride-th pixel from 0, which is a 1x1 average pool.
/// - pad_channels(outputs): zero channels, (outputs - C) / 2 in front and the rest behind.
/// - flatten(): [C * H * W, 1, 1], in the order C, H, W in every memory layout.
/// - dropout(probability): in training each element is 0 with this probability, in [0, 1), and otherwise divided by
///   1 - probability; in evaluation nothing changes.
std::span<const Operation> operations();

}  // namespace tandem

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace tandem {

/// What others must know of an operation to choose its kernels and the memory order of its values.
struct OperationTraits {
  bool convolution = false;  ///< its passes have several algorithms to choose from
  bool batchNorm = false;    ///< normalises by statistics of the batch, and keeps running ones
  bool channelwise = false;  ///< treats channels apart, or by number: they may lie in blocks
};

/// A row of the operation catalog: the rules that need no tensor. The executor holds the matching call by name.
struct Operation {
  std::string_view name;
  std::string_view summary;
  int inputs;  ///< number of inputs, -1 for two or more

  /// Output shape for one image. Throws UsageError, which states values and rule, when the inputs do not fit. Null
  /// only for `input`.
  ImageShape (*shape)(const Attributes&, std::span<const ImageShape> inputs);

  /// Parameters without node and node name: `Parameter::name` is just "weight" or "bias", or "" where the node's own
  /// name is the parameter's. Null: none.
  std::vector<Parameter> (*parameters)(const Attributes&, std::span<const ImageShape> inputs);

  /// Counted FLOPs for one image (see forwardFlops). Null: none.
  double (*flops)(const Attributes&, std::span<const ImageShape> inputs, ImageShape output);

  /// Names of the rows of attributes() that it reads, with blanks between.
  std::string_view reads = {};

  OperationTraits traits = {};
};

/// The catalog. In brackets what each row reads of Attributes; shapes are of one image.
///
/// - input(): the images; node 0 of every graph.
/// - conv(outputs, kernelH/W, strideH/W, padding, groups, bias): cross-correlation over the zero-padded input with
///   weight [outputs, C / groups, kernelH, kernelW] and bias [outputs].
/// - linear(outputs, bias): W x + b. The input must be flat, [C, 1, 1].
/// - batch_norm(epsilon, momentum, scale): per channel scale * (x - mean) / sqrt(variance + epsilon) + shift, without
///   `scale` shift alone is trained. In training with
///   the batch's mean and biased variance, while running = (1 - momentum) * running + momentum * batch takes the
///   unbiased variance; in evaluation with the running statistics.
/// - layer_norm(epsilon): at each pixel over the channels scale * (x - mean) / sqrt(variance + epsilon) + shift, scale
///   and shift per channel, the variance biased.
/// - local_response_norm(radius, alpha, beta): x / (1 + alpha * s)^beta, s the sum of the squares of the channels at
/// most
///   `radius` away, of the pixel.
/// - relu(): max(x, 0). relu6(): min(max(x, 0), 6). sigmoid(): 1 / (1 + exp(-x)). silu(): x * sigmoid(x). gelu(): x
///   times the normal distribution function of x. tanh(). rescale(alpha): alpha * x.
/// - add(): sum of two or more inputs of one shape.
/// - concat(): the channels of the inputs, which have one height and width, one after the other.
/// - multiply(): the first input times the second, which has its channels and one pixel.
/// - max_pool(kernelH/W, strideH/W, padding, ceilMode): maximum of each window; padding never wins. It is symmetric and
///   at most half the kernel. With ceilMode the last window may reach over the far edge, but does not start there.
/// - avg_pool(as max_pool, countPadding): mean of each window, padding counted as zeros or not at all; what reaches
/// over
///   the edge is not counted.
/// - adaptive_avg_pool(poolH, poolW): [C, poolH, poolW]; output row i is the mean of the input rows from
///   floor(i * H / poolH) up to ceil((i + 1) * H / poolH), exclusive; columns alike.
/// - global_avg_pool(): [C, 1, 1], the mean of each channel.
/// - subsample(strideH, strideW): every stride-th pixel from 0, which is a 1x1 average pool.
/// - pad(padding): zeros around the image; negative padding takes pixels away.
/// - pad_channels(outputs): zero channels, (outputs - C) / 2 in front and the rest behind.
/// - first_channels(outputs): the first channels alone.
/// - flatten(): [C * H * W, 1, 1], in the order C, H, W in every memory layout.
/// - dropout(probability): in training each element is 0 with this probability, in [0, 1), and otherwise divided by
///   1 - probability; in evaluation nothing changes. stochastic_depth(probability): the same for all elements of an
///   image together.
/// - layer_scale(): x times one trained number per channel, [C, 1, 1], called as the node.
/// - channel_linear(outputs, bias): a linear layer over the channels of each pixel; weight [outputs, C].
///
/// A sequence of L tokens of C numbers is [C, L, 1].
///
/// - class_token(): a trained token, [1, 1, C] and called as the node, and behind it the pixels row by row as tokens.
/// - position_embedding(): plus a trained token for each place, [1, L, C] and called as the node.
/// - attention(heads): softmax(q k' / sqrt(C / heads)) v in each of the heads, which share the channels; the channels
///   of q, k and v are one linear layer of the input, in_proj_weight [3 C, C] and in_proj_bias [3 C].
/// - first_token(): [C, 1, 1].
/// - box_values(outputs): the channels at each pixel are `outputs` numbers of each of C / outputs boxes, [outputs, C /
///   outputs * H * W, 1]: a token for each box, in the order box, row, column.
/// - join_tokens(): the tokens of the inputs, which have one number of channels, one after the other.
std::span<const Operation> operations();

}  // namespace tandem

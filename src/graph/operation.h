#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace tandem {

/// Traits of an operation that decide which kernels and which memory layout of its values are possible.
struct OperationTraits {
  bool convolution = false;  ///< its passes have several algorithms to choose from
  bool batchNorm = false;    ///< normalises by batch statistics and keeps running ones
  bool channelwise = false;  ///< treats channels separately or by number, so they may be in blocks
};

/// A row of the operation catalog: the rules that need no tensor. The executor holds the matching call by name.
struct Operation {
  std::string_view name;
  std::string_view summary;
  int inputs;  ///< number of inputs, -1 for two or more

  /// Output shape for one image. Throws UsageError with values and rule if the inputs do not fit. Null only for
  /// `input`.
  ImageShape (*shape)(const Attributes&, std::span<const ImageShape> inputs);

  /// Parameters without node. `Parameter::name` is just "weight" or "bias", or "" if the parameter has the node's own
  /// name. Null: none.
  std::vector<Parameter> (*parameters)(const Attributes&, std::span<const ImageShape> inputs);

  /// Counted FLOPs for one image (see forwardFlops). Null: none.
  double (*flops)(const Attributes&, std::span<const ImageShape> inputs, ImageShape output);

  /// Names of the rows of attributes() that it reads, separated by blanks.
  std::string_view reads = {};

  OperationTraits traits = {};
};

/// The catalog. Brackets hold the Attributes that a row reads. Shapes are those of one image.
///
/// - input(): the images; node 0 of every graph.
/// - conv(outputs, kernelH/W, strideH/W, padding, groups, bias, gain, identity, whitening): cross-correlation over the
///   zero-padded input with weight [outputs, C / groups, kernelH, kernelW] and bias [outputs]. With `identity` output i
///   below C begins as a copy of input i (PyTorch's dirac_). With `whitening`, which has 2 * C * kernelH * kernelW
///   outputs, the weight is not trained: a training begins by making it from its images (train/whitening.h).
/// - dilated_conv(as conv, dilationH/W): the same, but the pixels of a window are dilationH rows and dilationW columns
///   apart.
/// - linear(outputs, bias, gain): W x + b. The input must be flat, [C, 1, 1].
/// - batch_norm(epsilon, momentum, scale): per channel scale * (x - mean) / sqrt(variance + epsilon) + shift. Without
///   `scale` only the shift is trained. Training uses the batch's mean and biased variance, and updates
///   running = (1 - momentum) * running + momentum * batch with the unbiased variance. Evaluation uses the running
///   statistics.
/// - layer_norm(epsilon): at each pixel over the channels scale * (x - mean) / sqrt(variance + epsilon) + shift. Scale
///   and shift are per channel, the variance is biased.
/// - local_response_norm(radius, alpha, beta): x / (1 + alpha * s)^beta, where s sums the squares of the pixel's
///   channels at most `radius` away.
/// - relu(): max(x, 0). relu6(): min(max(x, 0), 6). sigmoid(): 1 / (1 + exp(-x)). silu(): x * sigmoid(x). gelu(): x
///   times the normal distribution function of x. gelu_tanh(): x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2.
///   tanh(). rescale(alpha): alpha * x.
/// - hard_sigmoid(): min(max(x + 3, 0), 6) / 6. hard_swish(): x times that (Howard et al. 2019, arXiv:1905.02244).
/// - add(): sum of two or more inputs of one shape.
/// - concat(): concatenates inputs of one height and width along the channels.
/// - multiply(): the first input times the second, which has the same channels and one pixel.
/// - max_pool(kernelH/W, strideH/W, padding, ceilMode): maximum of each window; padding never wins. Padding is
///   symmetric and at most half the kernel. With ceilMode the last window may reach over the far edge, but does not
///   start there.
/// - avg_pool(as max_pool, countPadding): mean of each window. Padding counts as zeros or not at all; what reaches over
///   the edge does not count.
/// - adaptive_avg_pool(poolH, poolW): [C, poolH, poolW]. Output row i is the mean of the input rows from
///   floor(i * H / poolH) up to ceil((i + 1) * H / poolH), exclusive; columns alike.
/// - global_avg_pool(): [C, 1, 1], the mean of each channel.
/// - subsample(strideH, strideW): every stride-th pixel from 0, as a 1x1 average pool does.
/// - pad(padding): zeros around the image; negative padding crops.
/// - pad_channels(outputs): zero channels, (outputs - C) / 2 before the input's and the rest after them.
/// - first_channels(outputs): the first channels alone.
/// - channel_range(first, outputs): `outputs` channels from `first`.
/// - channel_shuffle(groups): the first channel of each group, then the second of each, and so on (Zhang et al. 2017,
///   arXiv:1707.01083).
/// - flatten(): [C * H * W, 1, 1], in the order C, H, W in every memory layout.
/// - dropout(probability): in training each element is 0 with this probability, in [0, 1), and otherwise divided by
///   1 - probability. Evaluation changes nothing. stochastic_depth(probability): the same, but all elements of an image
///   share the draw.
/// - layer_scale(): x times one trained number per channel, [C, 1, 1]. The parameter has the node's name.
/// - channel_linear(outputs, bias): a linear layer over the channels of each pixel; weight [outputs, C].
///
/// A sequence of L tokens of C numbers is [C, L, 1].
///
/// - class_token(): a trained token, [1, 1, C] with the node's name, then the pixels row by row as tokens.
/// - position_embedding(): adds a trained token for each position, [1, L, C] with the node's name.
/// - attention(heads): softmax(q k' / sqrt(C / heads)) v in each of the heads, which share the channels. One linear
///   layer makes the channels of q, k and v: in_proj_weight [3 C, C] and in_proj_bias [3 C].
/// - first_token(): [C, 1, 1].
/// - box_values(outputs): takes the channels at each pixel as `outputs` numbers of each of C / outputs boxes. Gives
///   [outputs, C / outputs * H * W, 1]: a token for each box, in the order box, row, column.
/// - join_tokens(): concatenates the tokens of inputs with the same number of channels.
std::span<const Operation> operations();

}  // namespace tandem

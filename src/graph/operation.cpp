#include "graph/operation.h"

#include <array>

#include "graph/shape_rules.h"

namespace tandem {
namespace {

using Shapes = std::span<const ImageShape>;

Parameter parameter(ParameterRole role, std::vector<int64_t> shape, int64_t fanIn) {
  const bool shift = role == ParameterRole::bias || role == ParameterRole::normShift;
  return {.name = shift ? "bias" : "weight", .role = role, .shape = std::move(shape), .fanIn = fanIn};
}

std::vector<Parameter> weightAndBias(std::vector<int64_t> shape, int64_t fanIn, bool bias) {
  const int64_t outputs = shape[0];
  std::vector<Parameter> parameters{parameter(ParameterRole::weight, std::move(shape), fanIn)};
  if (bias) parameters.push_back(parameter(ParameterRole::bias, {outputs}, fanIn));
  return parameters;
}

int64_t convFanIn(const Attributes& a, Shapes inputs) { return inputs[0].channels / a.groups * a.kernelH * a.kernelW; }

std::vector<Parameter> convParameters(const Attributes& a, Shapes inputs) {
  return weightAndBias({a.outputs, inputs[0].channels / a.groups, a.kernelH, a.kernelW}, convFanIn(a, inputs), a.bias);
}

double convFlops(const Attributes& a, Shapes inputs, ImageShape output) {
  return 2.0 * static_cast<double>(output.count()) * static_cast<double>(convFanIn(a, inputs));
}

std::vector<Parameter> linearParameters(const Attributes& a, Shapes inputs) {
  return weightAndBias({a.outputs, inputs[0].channels}, inputs[0].channels, a.bias);
}

double linearFlops(const Attributes&, Shapes inputs, ImageShape output) {
  return 2.0 * static_cast<double>(output.channels) * static_cast<double>(inputs[0].channels);
}

std::vector<Parameter> normParameters(const Attributes& a, Shapes inputs) {
  const int64_t channels = inputs[0].channels;
  std::vector<Parameter> parameters;
  if (a.scale) parameters.push_back(parameter(ParameterRole::normScale, {channels}, 0));
  parameters.push_back(parameter(ParameterRole::normShift, {channels}, 0));
  return parameters;
}

Parameter ownName(ParameterRole role, std::vector<int64_t> shape) {
  return {.name = "", .role = role, .shape = std::move(shape)};
}

std::vector<Parameter> layerScaleParameters(const Attributes&, Shapes inputs) {
  return {ownName(ParameterRole::layerScale, {inputs[0].channels, 1, 1})};
}

std::vector<Parameter> classTokenParameters(const Attributes&, Shapes inputs) {
  return {ownName(ParameterRole::embedding, {1, 1, inputs[0].channels})};
}

std::vector<Parameter> positionParameters(const Attributes&, Shapes inputs) {
  return {ownName(ParameterRole::embedding, {1, inputs[0].height, inputs[0].channels})};
}

double channelLinearFlops(const Attributes&, Shapes inputs, ImageShape output) {
  return 2.0 * static_cast<double>(output.count()) * static_cast<double>(inputs[0].channels);
}

std::vector<Parameter> attentionParameters(const Attributes&, Shapes inputs) {
  const int64_t channels = inputs[0].channels;
  auto parameters = weightAndBias({3 * channels, channels}, channels, /*bias=*/true);
  for (Parameter& parameter : parameters) parameter.name = "in_proj_" + parameter.name;
  return parameters;
}

double attentionFlops(const Attributes&, Shapes inputs, ImageShape) {
  const auto channels = static_cast<double>(inputs[0].channels), tokens = static_cast<double>(inputs[0].height);
  return 2 * tokens * channels * 3 * channels + 2 * 2 * tokens * tokens * channels;
}

constexpr OperationTraits convolves{.convolution = true}, channelwise{.channelwise = true},
    normalisesBatch{.batchNorm = true, .channelwise = true};

constexpr std::array catalog{
    Operation{"input", "the images", 0, nullptr, nullptr, nullptr},
    Operation{"conv", "2-D convolution", 1, shape_rules::conv, convParameters, convFlops,
              "outputs kernel stride padding groups bias gain identity whitening", convolves},
    Operation{"dilated_conv", "2-D convolution of pixels that lie apart", 1, shape_rules::dilatedConv, convParameters,
              convFlops, "outputs kernel stride padding dilation groups bias"},
    Operation{"linear", "fully connected layer", 1, shape_rules::linear, linearParameters, linearFlops,
              "outputs bias gain"},
    Operation{"batch_norm", "batch normalisation per channel", 1, shape_rules::batchNorm, normParameters, nullptr,
              "epsilon momentum scale", normalisesBatch},
    Operation{"layer_norm", "normalisation of each pixel's channels", 1, shape_rules::layerNorm, normParameters,
              nullptr, "epsilon"},
    Operation{"relu", "max(x, 0)", 1, shape_rules::same, nullptr, nullptr, "", channelwise},
    Operation{"local_response_norm", "division by the size of neighbouring channels", 1, shape_rules::localResponseNorm,
              nullptr, nullptr, "radius alpha beta"},
    Operation{"relu6", "min(max(x, 0), 6)", 1, shape_rules::same, nullptr, nullptr, "", channelwise},
    Operation{"sigmoid", "1 / (1 + exp(-x))", 1, shape_rules::same, nullptr, nullptr, "", channelwise},
    Operation{"hard_sigmoid", "min(max(x + 3, 0), 6) / 6", 1, shape_rules::same, nullptr, nullptr, "", channelwise},
    Operation{"silu", "x * sigmoid(x)", 1, shape_rules::same, nullptr, nullptr, "", channelwise},
    Operation{"hard_swish", "x * hard_sigmoid(x)", 1, shape_rules::same, nullptr, nullptr, "", channelwise},
    Operation{"gelu", "x times the normal distribution function", 1, shape_rules::same, nullptr, nullptr, "",
              channelwise},
    Operation{"gelu_tanh", "the same, approximated by tanh", 1, shape_rules::same, nullptr, nullptr, "", channelwise},
    Operation{"tanh", "hyperbolic tangent", 1, shape_rules::same, nullptr, nullptr, "", channelwise},
    Operation{"rescale", "product with a fixed number", 1, shape_rules::same, nullptr, nullptr, "alpha", channelwise},
    Operation{"add", "element-wise sum", -1, shape_rules::add, nullptr, nullptr, "", channelwise},
    Operation{"concat", "channels one after the other", -1, shape_rules::concat, nullptr, nullptr},
    Operation{"multiply", "product with one number per channel", 2, shape_rules::multiply, nullptr, nullptr, "",
              channelwise},
    Operation{"max_pool", "maximum of each window", 1, shape_rules::pool, nullptr, nullptr,
              "kernel stride padding ceil_mode", channelwise},
    Operation{"avg_pool", "mean of each window", 1, shape_rules::pool, nullptr, nullptr,
              "kernel stride padding ceil_mode count_padding", channelwise},
    Operation{"adaptive_avg_pool", "mean pooling to a fixed size", 1, shape_rules::adaptivePool, nullptr, nullptr,
              "output_size", channelwise},
    Operation{"global_avg_pool", "mean of each channel", 1, shape_rules::globalPool, nullptr, nullptr, "", channelwise},
    Operation{"subsample", "every stride-th pixel", 1, shape_rules::subsample, nullptr, nullptr, "stride", channelwise},
    Operation{"pad", "zeros around the image", 1, shape_rules::pad, nullptr, nullptr, "padding", channelwise},
    Operation{"pad_channels", "zero channels in front and behind", 1, shape_rules::padChannels, nullptr, nullptr,
              "outputs"},
    Operation{"first_channels", "the first channels alone", 1, shape_rules::firstChannels, nullptr, nullptr, "outputs"},
    Operation{"channel_range", "neighbouring channels alone", 1, shape_rules::channelRange, nullptr, nullptr,
              "first outputs"},
    Operation{"channel_shuffle", "the channels of groups by turns", 1, shape_rules::channelShuffle, nullptr, nullptr,
              "groups"},
    Operation{"flatten", "all values as one vector", 1, shape_rules::flatten, nullptr, nullptr},
    Operation{"dropout", "random zeros while training", 1, shape_rules::dropout, nullptr, nullptr, "probability"},
    Operation{"stochastic_depth", "random images zero while training", 1, shape_rules::dropout, nullptr, nullptr,
              "probability"},
    Operation{"layer_scale", "product with a trained number per channel", 1, shape_rules::same, layerScaleParameters,
              nullptr},
    Operation{"channel_linear", "linear layer over each pixel's channels", 1, shape_rules::channelLinear,
              linearParameters, channelLinearFlops, "outputs bias"},
    Operation{"class_token", "pixels as tokens behind a trained one", 1, shape_rules::classToken, classTokenParameters,
              nullptr},
    Operation{"position_embedding", "plus a trained token for each place", 1, shape_rules::tokens, positionParameters,
              nullptr},
    Operation{"attention", "self-attention of tokens", 1, shape_rules::attention, attentionParameters, attentionFlops,
              "heads"},
    Operation{"first_token", "the first token alone", 1, shape_rules::firstToken, nullptr, nullptr},
    Operation{"box_values", "numbers of several boxes at each pixel as tokens", 1, shape_rules::boxValues, nullptr,
              nullptr, "outputs"},
    Operation{"join_tokens", "tokens one after the other", -1, shape_rules::joinTokens, nullptr, nullptr},
};

}  // namespace

std::span<const Operation> operations() { return catalog; }

}  // namespace tandem

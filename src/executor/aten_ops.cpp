#include "executor/aten_ops.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>

#include <array>

#include "base/error.h"
#include "base/text.h"
#include "executor/joined_batch_norm.h"
#include "kernels/tensor/pixels.h"

namespace tandem {
namespace {

at::Tensor padded(const at::Tensor& value, const Padding& p) {
  return at::constant_pad_nd(value, {p.left, p.right, p.top, p.bottom}, 0);
}

at::Tensor convolution(OperationArguments& a) {
  const Attributes& c = a.attributes;
  const bool symmetric = c.padding.symmetric();
  const at::Tensor input = symmetric ? a.inputs[0] : padded(a.inputs[0], c.padding);
  const std::array<int64_t, 2> padding{symmetric ? c.padding.top : 0, symmetric ? c.padding.left : 0};
  const std::array<int64_t, 2> dilation{c.dilationH, c.dilationW};
  return at::conv2d(input, a.weight, a.bias, {c.strideH, c.strideW}, padding, dilation, c.groups);
}

at::Tensor linear(OperationArguments& a) {
  const at::Tensor& input = a.inputs[0];
  return at::linear(input.dim() == 2 ? input : input.flatten(1), a.weight, a.bias);
}

at::Tensor batchNorm(OperationArguments& a) {
  if (a.training && a.statistics != nullptr) return joinedBatchNorm(a);
  return at::batch_norm(a.inputs[0], a.weight, a.bias, a.runningMean, a.runningVar, a.training, a.attributes.momentum,
                        a.attributes.epsilon, /*cudnn_enabled=*/true);
}

at::Tensor localResponseNorm(OperationArguments& a) {
  const Attributes& n = a.attributes;
  const at::Tensor& given = a.inputs[0];
  const at::Tensor x = c10::isReducedFloatingType(given.scalar_type()) ? given.to(at::kFloat) : given;
  const at::Tensor squares = at::constant_pad_nd(x.square(), {0, 0, 0, 0, n.radius, n.radius});
  at::Tensor sum = squares.narrow(1, 0, x.size(1));
  for (int64_t i = 1; i <= 2 * n.radius; ++i) sum = sum + squares.narrow(1, i, x.size(1));
  return (x / (sum * n.alpha + 1).pow(n.beta)).to(given.scalar_type());
}

at::Tensor relu(OperationArguments& a) { return a.mayOverwrite ? at::relu_(a.inputs[0]) : at::relu(a.inputs[0]); }

at::Tensor add(OperationArguments& a) {
  at::Tensor sum = a.mayOverwrite ? a.inputs[0].add_(a.inputs[1]) : at::add(a.inputs[0], a.inputs[1]);
  for (size_t i = 2; i < a.inputs.size(); ++i) sum = sum.add_(a.inputs[i]);
  return sum;
}

at::Tensor maxPool(OperationArguments& a) {
  const PoolWindow w = poolWindow(a.attributes);
  return at::max_pool2d(a.inputs[0], w.kernel, w.stride, w.padding, {1, 1}, w.ceilMode);
}

at::Tensor averagePool(OperationArguments& a) {
  const PoolWindow w = poolWindow(a.attributes);
  return at::avg_pool2d(a.inputs[0], w.kernel, w.stride, w.padding, w.ceilMode, a.attributes.countPadding);
}

/// Means along `dimension` over `count` windows, as adaptive_avg_pool2d forms them; fp32.
at::Tensor windowMeans(const at::Tensor& x, int64_t dimension, int64_t count) {
  const int64_t size = x.size(dimension);
  std::vector<at::Tensor> means;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = i * size / count, end = ((i + 1) * size + count - 1) / count;
    means.push_back(
        x.narrow(dimension, begin, end - begin).mean(at::IntArrayRef(dimension), /*keepdim=*/true, at::kFloat));
  }
  return at::cat(means, dimension);
}

// ATen's own backward adds in any order on a GPU, and throws if deterministic algorithms are requested.
at::Tensor adaptiveAveragePool(OperationArguments& a) {
  const at::Tensor& x = a.inputs[0];
  const int64_t height = a.attributes.poolH, width = a.attributes.poolW;
  if (x.size(2) == height && x.size(3) == width) return at::alias(x);
  if (x.size(2) % height == 0 && x.size(3) % width == 0) {
    const std::array<int64_t, 2> window{x.size(2) / height, x.size(3) / width};
    return at::avg_pool2d(x, window, window);
  }
  if (!at::globalContext().deterministicAlgorithms()) return at::adaptive_avg_pool2d(x, {height, width});
  const at::Tensor means = windowMeans(windowMeans(x, 2, height), 3, width);
  return means.to(x.scalar_type()).contiguous(x.suggest_memory_format());
}

at::Tensor globalAveragePool(OperationArguments& a) { return at::adaptive_avg_pool2d(a.inputs[0], {1, 1}); }

at::Tensor subsample(OperationArguments& a) {
  return a.inputs[0].slice(2, 0, std::nullopt, a.attributes.strideH).slice(3, 0, std::nullopt, a.attributes.strideW);
}

at::Tensor pad(OperationArguments& a) { return padded(a.inputs[0], a.attributes.padding); }

at::Tensor padChannels(OperationArguments& a) {
  const int64_t missing = a.attributes.outputs - a.inputs[0].size(1);
  return at::constant_pad_nd(a.inputs[0], {0, 0, 0, 0, missing / 2, missing - missing / 2}, 0);
}

at::Tensor concatenation(OperationArguments& a) { return at::cat(a.inputs, 1); }

at::Tensor multiply(OperationArguments& a) { return a.inputs[0] * a.inputs[1]; }

at::Tensor relu6(OperationArguments& a) {
  return a.mayOverwrite ? at::hardtanh_(a.inputs[0], 0, 6) : at::hardtanh(a.inputs[0], 0, 6);
}

at::Tensor sigmoid(OperationArguments& a) { return at::sigmoid(a.inputs[0]); }
at::Tensor hardSigmoid(OperationArguments& a) { return at::hardsigmoid(a.inputs[0]); }
at::Tensor hardSwish(OperationArguments& a) { return at::hardswish(a.inputs[0]); }
at::Tensor silu(OperationArguments& a) { return at::silu(a.inputs[0]); }
at::Tensor gelu(OperationArguments& a) { return at::gelu(a.inputs[0]); }
at::Tensor geluTanh(OperationArguments& a) { return at::gelu(a.inputs[0], "tanh"); }
at::Tensor tanh(OperationArguments& a) { return at::tanh(a.inputs[0]); }
at::Tensor rescale(OperationArguments& a) { return a.inputs[0] * a.attributes.alpha; }

at::Tensor layerScale(OperationArguments& a) { return a.inputs[0] * a.weight; }

at::Tensor channelLinear(OperationArguments& a) {
  return channelsBefore(at::linear(channelsBehind(a.inputs[0]), a.weight, a.bias));
}

at::Tensor layerNorm(OperationArguments& a) {
  const at::Tensor x = channelsBehind(a.inputs[0]);
  const auto type = x.is_cpu() ? a.weight.scalar_type() : x.scalar_type();  // only CPUs mix fp32 and 16-bit
  return channelsBefore(at::layer_norm(x, {x.size(3)}, a.weight.to(type), a.bias.to(type), a.attributes.epsilon));
}

// From [N, C, L, 1] to tokens [N, L, C] and back, as views.
at::Tensor tokensOf(const at::Tensor& x) { return x.squeeze(3).transpose(1, 2); }
at::Tensor valueOf(const at::Tensor& tokens) { return tokens.transpose(1, 2).unsqueeze(3); }

at::Tensor classToken(OperationArguments& a) {
  const at::Tensor pixels = a.inputs[0].flatten(2).transpose(1, 2);
  return valueOf(at::cat({a.weight.expand({pixels.size(0), 1, pixels.size(2)}), pixels}, 1));
}

at::Tensor positionEmbedding(OperationArguments& a) { return valueOf(tokensOf(a.inputs[0]) + a.weight); }

at::Tensor attention(OperationArguments& a) {
  const at::Tensor tokens = tokensOf(a.inputs[0]);
  const int64_t images = tokens.size(0), length = tokens.size(1), channels = tokens.size(2), heads = a.attributes.heads;
  const at::Tensor joined = at::linear(tokens, a.weight, a.bias).view({images, length, 3, heads, channels / heads});
  const auto qkv = joined.permute({2, 0, 3, 1, 4}).unbind(0);  // [N, heads, L, C / heads] each
  const at::Tensor mixed = at::scaled_dot_product_attention(qkv[0], qkv[1], qkv[2]);
  return valueOf(mixed.transpose(1, 2).reshape({images, length, channels}));
}

at::Tensor firstChannels(OperationArguments& a) { return a.inputs[0].narrow(1, 0, a.attributes.outputs); }

at::Tensor channelRange(OperationArguments& a) {
  return a.inputs[0].narrow(1, a.attributes.first, a.attributes.outputs);
}

at::Tensor channelShuffle(OperationArguments& a) {
  const at::Tensor& x = a.inputs[0];
  const at::Tensor shuffled = x.unflatten(1, {a.attributes.groups, -1}).transpose(1, 2).reshape(x.sizes());
  return shuffled.contiguous(x.suggest_memory_format());
}

at::Tensor firstToken(OperationArguments& a) { return a.inputs[0].narrow(2, 0, 1); }

at::Tensor boxValues(OperationArguments& a) {
  const at::Tensor& x = a.inputs[0];
  const int64_t images = x.size(0), numbers = a.attributes.outputs, boxes = x.size(1) / numbers;
  const at::Tensor apart = x.contiguous().view({images, boxes, numbers, x.size(2) * x.size(3)});
  return apart.transpose(1, 2).reshape({images, numbers, -1, 1});
}

at::Tensor joinTokens(OperationArguments& a) { return at::cat(a.inputs, 2); }

at::Tensor flatten(OperationArguments& a) { return a.inputs[0].flatten(1); }

/// The input, with zeros where random numbers say so. Draws into the memory of `kept`.
at::Tensor dropped(OperationArguments& a, const at::Tensor& kept) {
  const double p = a.attributes.probability;
  return a.inputs[0] * kept.bernoulli_(1 - p, *a.generator).div_(1 - p);
}

at::Tensor dropout(OperationArguments& a) {
  if (!a.training || a.attributes.probability == 0) return a.inputs[0];
  return dropped(a, at::empty_like(a.inputs[0]));
}

at::Tensor stochasticDepth(OperationArguments& a) {
  if (!a.training || a.attributes.probability == 0) return a.inputs[0];
  return dropped(a, at::empty({a.inputs[0].size(0), 1, 1, 1}, a.inputs[0].options()));
}

struct CallRow {
  std::string_view operation;
  AtenOp call;
  bool outputMayBeOverwritten;
  bool draws = false;  // numbers from the generator
};

constexpr std::array<CallRow, 41> calls{{
    {"input", nullptr, false},
    {"conv", convolution, true},
    {"dilated_conv", convolution, true},
    {"linear", linear, true},
    {"batch_norm", batchNorm, true},
    {"layer_norm", layerNorm, false},
    {"relu", relu, false},
    {"local_response_norm", localResponseNorm, false},
    {"relu6", relu6, false},
    {"sigmoid", sigmoid, false},
    {"hard_sigmoid", hardSigmoid, false},
    {"hard_swish", hardSwish, false},
    {"silu", silu, false},
    {"gelu", gelu, false},
    {"gelu_tanh", geluTanh, false},
    {"tanh", tanh, false},
    {"rescale", rescale, true},
    {"add", add, true},
    {"concat", concatenation, true},
    {"multiply", multiply, true},
    {"max_pool", maxPool, false},
    {"avg_pool", averagePool, false},
    {"adaptive_avg_pool", adaptiveAveragePool, false},
    {"global_avg_pool", globalAveragePool, false},
    {"subsample", subsample, false},
    {"pad", pad, false},
    {"pad_channels", padChannels, false},
    {"first_channels", firstChannels, false},
    {"channel_range", channelRange, false},
    {"channel_shuffle", channelShuffle, false},
    {"flatten", flatten, false},
    {"dropout", dropout, false, /*draws=*/true},
    {"stochastic_depth", stochasticDepth, false, /*draws=*/true},
    {"layer_scale", layerScale, true},
    {"channel_linear", channelLinear, false},
    {"class_token", classToken, false},
    {"position_embedding", positionEmbedding, false},
    {"attention", attention, false},
    {"first_token", firstToken, false},
    {"box_values", boxValues, false},
    {"join_tokens", joinTokens, true},
}};

const CallRow& row(std::string_view operation) {
  for (const CallRow& candidate : calls) {
    if (candidate.operation == operation) return candidate;
  }
  throw InternalError(concat("operation '", operation, "' has no ATen call"));
}

}  // namespace

AtenOp atenOp(std::string_view operation) { return row(operation).call; }

bool outputMayBeOverwritten(std::string_view operation) { return row(operation).outputMayBeOverwritten; }

bool drawsNumbers(std::string_view operation) { return row(operation).draws; }

PoolWindow poolWindow(const Attributes& a) {
  check(a.padding.symmetric(), "pooling with unequal padding");
  return {{a.kernelH, a.kernelW}, {a.strideH, a.strideW}, {a.padding.top, a.padding.left}, a.ceilMode};
}

}  // namespace tandem

#include "executor/operation_call.h"

#include <ATen/ATen.h>

#include <array>

#include "base/error.h"
#include "base/text.h"

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
  return at::conv2d(input, a.weight, a.bias, {c.strideH, c.strideW}, padding, {1, 1}, c.groups);
}

at::Tensor linear(OperationArguments& a) {
  const at::Tensor& input = a.inputs[0];
  return at::linear(input.dim() == 2 ? input : input.flatten(1), a.weight, a.bias);
}

at::Tensor batchNorm(OperationArguments& a) {
  return at::batch_norm(a.inputs[0], a.weight, a.bias, a.runningMean, a.runningVar, a.training, a.attributes.momentum,
                        a.attributes.epsilon, /*cudnn_enabled=*/true);
}

at::Tensor relu(OperationArguments& a) { return a.mayOverwrite ? at::relu_(a.inputs[0]) : at::relu(a.inputs[0]); }

at::Tensor add(OperationArguments& a) {
  at::Tensor sum = a.mayOverwrite ? a.inputs[0].add_(a.inputs[1]) : at::add(a.inputs[0], a.inputs[1]);
  for (size_t i = 2; i < a.inputs.size(); ++i) sum = sum.add_(a.inputs[i]);
  return sum;
}

struct PoolWindow {
  std::array<int64_t, 2> kernel, stride, padding;
  at::Tensor input;
  explicit PoolWindow(OperationArguments& a)
      : kernel{a.attributes.kernelH, a.attributes.kernelW},
        stride{a.attributes.strideH, a.attributes.strideW},
        padding{a.attributes.padding.top, a.attributes.padding.left},
        input(a.inputs[0]) {
    check(a.attributes.padding.symmetric(), "pooling with unequal padding");
  }
};

at::Tensor maxPool(OperationArguments& a) {
  const PoolWindow w(a);
  return at::max_pool2d(w.input, w.kernel, w.stride, w.padding, {1, 1}, a.attributes.ceilMode);
}

at::Tensor averagePool(OperationArguments& a) {
  const PoolWindow w(a);
  return at::avg_pool2d(w.input, w.kernel, w.stride, w.padding, a.attributes.ceilMode);
}

at::Tensor adaptiveAveragePool(OperationArguments& a) {
  return at::adaptive_avg_pool2d(a.inputs[0], {a.attributes.poolH, a.attributes.poolW});
}

at::Tensor globalAveragePool(OperationArguments& a) { return at::adaptive_avg_pool2d(a.inputs[0], {1, 1}); }

at::Tensor subsample(OperationArguments& a) {
  return a.inputs[0].slice(2, 0, std::nullopt, a.attributes.strideH).slice(3, 0, std::nullopt, a.attributes.strideW);
}

at::Tensor padChannels(OperationArguments& a) {
  const int64_t missing = a.attributes.outputs - a.inputs[0].size(1);
  return at::constant_pad_nd(a.inputs[0], {0, 0, 0, 0, missing / 2, missing - missing / 2}, 0);
}

at::Tensor flatten(OperationArguments& a) { return a.inputs[0].flatten(1); }

at::Tensor dropout(OperationArguments& a) {
  const double p = a.attributes.probability;
  if (!a.training || p == 0) return a.inputs[0];
  const at::Tensor kept = at::empty_like(a.inputs[0]).bernoulli_(1 - p, *a.generator);
  return a.inputs[0] * kept.div_(1 - p);
}

struct CallRow {
  std::string_view operation;
  OperationCall call;
  bool outputMayBeOverwritten;
  bool draws = false;  // from the generator
};

constexpr std::array<CallRow, 13> calls{{
    {"conv", convolution, true},
    {"linear", linear, true},
    {"batch_norm", batchNorm, true},
    {"relu", relu, false},
    {"add", add, true},
    {"max_pool", maxPool, false},
    {"avg_pool", averagePool, false},
    {"adaptive_avg_pool", adaptiveAveragePool, false},
    {"global_avg_pool", globalAveragePool, false},
    {"subsample", subsample, false},
    {"pad_channels", padChannels, false},
    {"flatten", flatten, false},
    {"dropout", dropout, false, /*draws=*/true},
}};

const CallRow& row(std::string_view operation) {
  for (const CallRow& candidate : calls) {
    if (candidate.operation == operation) return candidate;
  }
  throw InternalError(concat("operation '", operation, "' has no ATen call"));
}

}  // namespace

OperationCall operationCall(std::string_view operation) { return row(operation).call; }

bool outputMayBeOverwritten(std::string_view operation) {
  return operation != "input" && row(operation).outputMayBeOverwritten;
}

bool drawsNumbers(std::string_view operation) { return row(operation).draws; }

}  // namespace tandem

#include "kernels/norm/norm_act.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/norm/aten_activation.h"
#include "kernels/norm/backend.h"
#include "kernels/norm/joined_norm_act.h"
#include "kernels/tensor/reuse.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

void checkPair(const at::Tensor& x, const at::Tensor& other, const char* what) {
  const bool dense = other.is_contiguous(channelsLast);
  check(dense && other.sizes() == x.sizes() && other.scalar_type() == x.scalar_type(), what);
}

// Keeps the tensor's memory format, which suggest_memory_format() does not recognise in every strided view.
at::Tensor dense(const at::Tensor& tensor) {
  const bool isLast = tensor.dim() == 4 && tensor.stride(1) == 1;
  return tensor.contiguous(isLast ? channelsLast : at::MemoryFormat::Contiguous);
}

void enqueue(const NormProgram& program, const at::Tensor& x) {
  const c10::DeviceGuard guard(x.device());
  gpu::normAct(program, currentStream(x));
}

// Null: the reference runs. The GPU's programs finish their statistics on the device, where nobody joins them.
const NormActPasses* passesFor(at::Device device, at::ScalarType type, at::MemoryFormat format, bool joins) {
  if (format != channelsLast || !isElement(type) || (joins && !device.is_cpu())) return nullptr;
  static const auto onGpu = normActInBlocks(enqueue);
  return device.is_cpu() ? &normActOnCpu() : device.is_cuda() ? onGpu.get() : nullptr;
}

bool joins(const NormActOptions& options) { return options.training && options.exchange != nullptr; }

const NormActPasses* passesFor(const at::Tensor& x, const NormActOptions& options) {
  if (x.dim() != 4 || !x.is_contiguous(channelsLast)) return nullptr;
  return passesFor(x.device(), x.scalar_type(), channelsLast, joins(options));
}

// The second pass over x, once the statistics are known.
at::Tensor normalised(const NormActPasses& passes, const at::Tensor& x, const at::Tensor& residual,
                      const NormActOptions& options, NormActSaved& saved) {
  const at::Tensor added = residual.defined() ? residual.contiguous(channelsLast) : residual;
  if (added.defined()) checkPair(x, added, "normAct: residual like x");
  at::Tensor y = at::empty_like(x);
  NormActArguments arguments{};
  arguments.x = x.const_data_ptr();
  arguments.residual = added.defined() ? added.const_data_ptr() : nullptr;
  arguments.y = y.data_ptr();
  arguments.type = elementOf(x, "normAct");
  arguments.activation = options.activation;
  passes.normalise(x, arguments, saved);
  return y;
}

void keep(const at::Tensor& x, const at::Tensor& y, bool readsOutput, const NormActOptions& options,
          NormActSaved& saved) {
  saved.x = x;
  saved.y = readsOutput && options.activation == Activation::relu && !saved.reluMask.defined() ? y : at::Tensor();
}

// Whether a gradient is one number for each channel of an image, seen at each pixel.
bool isOfImages(const at::Tensor& gradient) {
  const auto isRepeated = [&](int64_t axis) { return gradient.size(axis) == 1 || gradient.stride(axis) == 0; };
  return gradient.dim() == 4 && isRepeated(2) && isRepeated(3) && gradient.size(2) * gradient.size(3) > 1;
}

// Takes such gradients out of `gradients` and returns their sum, [N * C] fp32, or an undefined tensor. One that is not
// such stays.
at::Tensor takeOfImages(std::vector<at::Tensor>& gradients) {
  if (std::ranges::all_of(gradients, isOfImages)) return {};
  at::Tensor sum;
  for (const at::Tensor& gradient : gradients) {
    if (!isOfImages(gradient)) continue;
    const at::Tensor numbers = gradient.select(3, 0).select(2, 0).to(at::kFloat).flatten();
    sum = sum.defined() ? sum + numbers : numbers;
  }
  std::erase_if(gradients, isOfImages);
  return sum;
}

// Whether kernels can write there.
bool areWritable(const at::Tensor& scale, const at::Tensor& shift) {
  const auto fits = [](const at::Tensor& gradient) {
    return gradient.defined() && isElement(gradient.scalar_type()) && gradient.is_contiguous();
  };
  return fits(scale) && fits(shift) && scale.scalar_type() == shift.scalar_type();
}

}  // namespace

bool normActHas(Activation activation, at::Device device) {
  return device.is_cpu() || activation == Activation::none || activation == Activation::relu;
}

bool hasNormActKernel(at::Device device, at::ScalarType type, at::MemoryFormat format, bool joins) {
  return passesFor(device, type, format, joins) != nullptr;
}

void updateRunning(const NormParameters& parameters, const JoinedMoments& batch, double momentum) {
  const double unbiased = batch.values > 1 ? batch.values / (batch.values - 1) : 1;
  at::Tensor mean = parameters.runningMean, variance = parameters.runningVar;
  mean.copy_(mean.to(at::kDouble).mul_(1 - momentum).add_(batch.moments.mean, momentum));
  variance.copy_(variance.to(at::kDouble).mul_(1 - momentum).add_(batch.moments.variance, momentum * unbiased));
}

at::Tensor normAct(const at::Tensor& given, const at::Tensor& residual, const NormParameters& parameters,
                   const NormActOptions& options, NormActSaved& saved) {
  check(normActHas(options.activation, given.device()), "normAct: an activation of the device");
  check(!residual.defined() || options.activation <= Activation::relu, "normAct: ReLU or none beside a residual");
  const at::Tensor x = dense(given);
  const NormActPasses* const passes = passesFor(x, options);
  if (!passes && joins(options)) return normActJoined(x, residual, parameters, options, saved);
  if (!passes) return normActReference(x, residual, parameters, options, saved);
  saved = {};
  saved.parameters = parameters;
  return normActBy(*passes, x, residual, options, saved);
}

void normActStatistics(const at::Tensor& given, const ChannelStats& sums, const NormParameters& parameters,
                       const NormActOptions& options, NormActSaved& saved) {
  const at::Tensor x = dense(given);
  const NormActPasses* const passes = passesFor(x, options);
  check(passes != nullptr && options.training, "normActStatistics: a kernel, in training");
  saved = {};
  saved.parameters = parameters;
  passes->statistics(x, sums, options, saved);
}

at::Tensor normActBy(const NormActPasses& passes, const at::Tensor& x, const at::Tensor& residual,
                     const NormActOptions& options, NormActSaved& saved) {
  passes.statistics(x, options, saved);
  return normActAgainBy(passes, x, residual, options, saved);
}

at::Tensor normActAgain(const at::Tensor& given, const at::Tensor& residual, const NormActOptions& options,
                        NormActSaved& saved) {
  const at::Tensor x = dense(given);
  if (const NormActPasses* const passes = passesFor(x, options)) {
    return normActAgainBy(*passes, x, residual, options, saved);
  }
  if (joins(options)) return normActJoinedAgain(x, residual, options, saved);
  const NormParameters parameters = saved.parameters;
  // The reference updates running statistics whenever they are given, but a repetition must not.
  NormParameters untouched = parameters;
  if (options.training) untouched.runningMean = untouched.runningVar = at::Tensor();
  at::Tensor y = normActReference(x, residual, untouched, options, saved);
  saved.parameters = parameters;
  return y;
}

at::Tensor normActAgainBy(const NormActPasses& passes, const at::Tensor& x, const at::Tensor& residual,
                          const NormActOptions& options, NormActSaved& saved) {
  at::Tensor y = normalised(passes, x, residual, options, saved);
  keep(x, y, residual.defined(), options, saved);
  return y;
}

void normActKeep(const at::Tensor& given, const at::Tensor& y, bool hasResidual, const NormActOptions& options,
                 NormActSaved& saved) {
  const at::Tensor x = dense(given);
  keep(x, y, hasResidual || !passesFor(x, options), options, saved);
}

NormActGradients normActBackward(std::vector<at::Tensor> outputGradients, const NormActSaved& saved, bool hasResidual,
                                 const NormActOptions& options) {
  if (const NormActPasses* const passes = passesFor(saved.x, options)) {
    return normActBackwardBy(*passes, std::move(outputGradients), saved, hasResidual, options);
  }
  if (joins(options)) return normActJoinedBackward(std::move(outputGradients), saved, hasResidual, options);
  return normActBackwardReference(std::move(outputGradients), saved, hasResidual, options);
}

NormActGradients normActBackwardBy(const NormActPasses& passes, std::vector<at::Tensor> outputGradients,
                                   const NormActSaved& saved, bool hasResidual, const NormActOptions& options) {
  const at::Tensor& x = saved.x;
  check(!outputGradients.empty(), "normActBackward: a gradient");
  const at::Tensor ofImages = passes.addsGradientsOfImages() ? takeOfImages(outputGradients) : at::Tensor();
  for (at::Tensor& gradient : outputGradients) gradient = gradient.contiguous(channelsLast);
  for (const at::Tensor& gradient : outputGradients) checkPair(x, gradient, "normActBackward: gradients like x");
  if (outputGradients.size() > 2) outputGradients = {addGradients(std::move(outputGradients))};

  // The masked gradient is kept if something else needs it too.
  const bool isSum = outputGradients.size() > 1 || ofImages.defined();
  const bool keepMasked = hasResidual && (options.activation != Activation::none || isSum);
  NormActGradients result;
  const at::Tensor &scale = saved.parameters.scaleGradient, &shift = saved.parameters.shiftGradient;
  if (areWritable(scale, shift)) result.scale = scale, result.shift = shift;
  if (hasResidual) result.residual = keepMasked ? memoryFor(x, outputGradients[0]) : outputGradients[0];
  // dx may overwrite the gradient of the output, unless that became the gradient of the residual.
  const bool gradientIsFree = !result.residual.defined() || !result.residual.is_same(outputGradients[0]);
  result.x = gradientIsFree ? memoryFor(x, outputGradients[0]) : at::empty_like(x);

  NormActGradientArguments arguments{};
  arguments.gradients[0] = outputGradients[0].const_data_ptr();
  arguments.gradients[1] = outputGradients.size() > 1 ? outputGradients[1].const_data_ptr() : nullptr;
  arguments.x = x.const_data_ptr();
  arguments.y = saved.y.defined() ? saved.y.const_data_ptr() : nullptr;
  arguments.masked = keepMasked ? result.residual.data_ptr() : nullptr;
  arguments.dx = result.x.data_ptr();
  arguments.type = elementOf(x, "normActBackward");
  arguments.activation = options.activation;
  passes.gradients(x, ofImages, saved, options, arguments, result);
  return result;
}

at::Tensor normActReference(const at::Tensor& x, const at::Tensor& residual, const NormParameters& parameters,
                            const NormActOptions& options, NormActSaved& saved) {
  // The function that at::batch_norm() calls: it selects cuDNN if possible.
  auto [y, mean, inverseDeviation, reserve, implementation] =
      at::_batch_norm_impl_index(x, parameters.scale, parameters.shift, parameters.runningMean, parameters.runningVar,
                                 options.training, options.momentum, options.epsilon, /*cudnn_enabled=*/true);
  if (residual.defined()) y.add_(residual);
  activate(y, options.activation);
  saved = {};
  saved.x = x, saved.parameters = parameters;
  saved.y = options.activation == Activation::relu ? y : at::Tensor();
  saved.mean = mean, saved.inverseDeviation = inverseDeviation;
  saved.reserve = reserve, saved.implementation = implementation;
  return y;
}

NormActGradients normActBackwardReference(std::vector<at::Tensor> outputGradients, const NormActSaved& saved,
                                          bool hasResidual, const NormActOptions& options) {
  const at::Tensor g = gradientBeforeActivation(addGradients(std::move(outputGradients)), saved, options);
  NormActGradients result;
  if (hasResidual) result.residual = g;
  const NormParameters& parameters = saved.parameters;
  std::tie(result.x, result.scale, result.shift) = at::_batch_norm_impl_index_backward(
      saved.implementation, saved.x, g, parameters.scale, parameters.runningMean, parameters.runningVar, saved.mean,
      saved.inverseDeviation, options.training, options.epsilon, {true, true, true}, saved.reserve);
  return result;
}

at::Tensor addGradients(std::vector<at::Tensor> gradients) {
  check(!gradients.empty(), "a gradient");
  if (isOfImages(gradients[0])) gradients[0] = gradients[0].contiguous(channelsLast);
  at::Tensor sum = std::move(gradients[0]);
  for (size_t i = 1; i < gradients.size(); ++i) {
    if (ownsMemoryAlone(sum)) {
      sum.add_(gradients[i]);
    } else {
      sum = sum.add(gradients[i]);
    }
  }
  return sum;
}

}  // namespace tandem

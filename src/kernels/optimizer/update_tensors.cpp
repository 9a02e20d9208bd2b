#include "kernels/optimizer/update_tensors.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "base/text.h"
#include "kernels/gpu/dispatch.h"

namespace tandem {
namespace {

void require(bool condition, const char* kernel, const char* rule) {
  if (!condition) throw InternalError(concat(kernel, ": ", rule));
}

bool isVectorLike(const at::Tensor& tensor, const at::Tensor& like) {
  return tensor.defined() && tensor.dim() == 1 && tensor.numel() == like.numel() && tensor.is_contiguous() &&
         tensor.device() == like.device();
}

}  // namespace

UpdateTensors updateTensors(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, const char* kernel) {
  require(isVectorLike(master, master) && master.scalar_type() == at::kFloat, kernel, "master is [n] fp32");
  require(isVectorLike(weights, master), kernel, "weights are like master");
  require(isVectorLike(gradient, master), kernel, "the gradient is like master");
  void* const separate = weights.data_ptr() == master.data_ptr() ? nullptr : weights.data_ptr();
  return {master.data_ptr<float>(), separate, gradient.const_data_ptr(), elementOf(weights, kernel),
          elementOf(gradient, kernel)};
}

float* updateState(const at::Tensor& state, const at::Tensor& master, const char* kernel) {
  require(isVectorLike(state, master) && state.scalar_type() == at::kFloat, kernel, "state is like master");
  return state.data_ptr<float>();
}

const float* updateFactor(const at::Tensor& factor, const at::Tensor& master, const char* kernel) {
  if (!factor.defined()) return nullptr;
  const bool fits = factor.numel() == 1 && factor.scalar_type() == at::kFloat && factor.device() == master.device();
  require(fits, kernel, "a factor is one fp32 on the device of master");
  return factor.const_data_ptr<float>();
}

}  // namespace tandem

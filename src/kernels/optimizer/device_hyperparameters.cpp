#include "kernels/optimizer/device_hyperparameters.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include "base/error.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/optimizer/adam_kernel.h"
#include "kernels/optimizer/rmsprop_kernel.h"
#include "kernels/optimizer/sgd_kernel.h"

namespace tandem {

template <class Step>
DeviceHyperparameters<Step>::DeviceHyperparameters(at::Device device)
    : memory_(at::empty({static_cast<int64_t>(sizeof(Coefficients))}, at::device(device).dtype(at::kByte))) {}

template <class Step>
void DeviceHyperparameters<Step>::set(const Step& step) {
  isSet_ = true;
  auto* const there = static_cast<Coefficients*>(memory_.mutable_data_ptr());
  if (memory_.is_cpu()) {
    *there = coefficientsOf(step);
    return;
  }
  const c10::DeviceGuard guard(device());
  gpu::prepare(there, step, currentStream(memory_));
}

template <class Step>
auto DeviceHyperparameters<Step>::get() const -> const Coefficients* {
  check(isSet_, "a step begins before its updates");
  return static_cast<const Coefficients*>(memory_.const_data_ptr());
}

template class DeviceHyperparameters<SgdHyperparameters>;
template class DeviceHyperparameters<AdamHyperparameters>;
template class DeviceHyperparameters<RmspropHyperparameters>;

}  // namespace tandem

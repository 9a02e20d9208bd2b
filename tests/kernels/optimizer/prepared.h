#pragma once

#include "kernels/optimizer/device_hyperparameters.h"

namespace tandem {

/// A step where updates on `device` read it.
template <class Step>
DeviceHyperparameters<Step> prepared(const Step& step, at::Device device = at::kCPU) {
  DeviceHyperparameters<Step> there(device);
  there.set(step);
  return there;
}

}  // namespace tandem

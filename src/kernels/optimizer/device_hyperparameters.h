#pragma once

#include <ATen/core/Tensor.h>

namespace tandem {

/// The coefficients of an optimizer's step in memory of a device, where updates read them when they run: an update that
/// was enqueued, or recorded (device/captured_graph.h), is the same in every step. Step: SgdHyperparameters or
/// AdamHyperparameters. For one thread.
template <class Step>
class DeviceHyperparameters {
 public:
  using Coefficients = typename Step::Coefficients;

  explicit DeviceHyperparameters(at::Device device);

  /// Enqueued on the device's current stream, with the values in the call itself: updates that were enqueued before
  /// read the step before, however far ahead the host is. What `step` has of a loss scale is read there too: it is that
  /// of the steps before this one.
  void set(const Step& step);

  at::Device device() const { return memory_.device(); }
  /// In memory of the device. REQUIRES: a step was set.
  const Coefficients* get() const;

 private:
  at::Tensor memory_;  // bytes of one Coefficients
  bool isSet_ = false;
};

}  // namespace tandem

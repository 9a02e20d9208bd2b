#pragma once

#include <ATen/core/Tensor.h>

namespace tandem {

/// An optimizer step's coefficients in device memory, where updates read them when they run. So an update that was
/// enqueued, or captured (device/captured_graph.h), is the same work in every step. Step:
/// SgdHyperparameters, AdamHyperparameters or RmspropHyperparameters. For one thread.
template <class Step>
class DeviceHyperparameters {
 public:
  using Coefficients = typename Step::Coefficients;

  explicit DeviceHyperparameters(at::Device device);

  /// Enqueued on the device's current stream. The call carries the values, so updates enqueued before still read the
  /// previous step, however far ahead the host is. The loss scale that `step` points to is read on the stream too: it
  /// holds the state after the previous step.
  void set(const Step& step);

  at::Device device() const { return memory_.device(); }
  /// Device address. REQUIRES: a step was set.
  const Coefficients* get() const;

 private:
  at::Tensor memory_;  // bytes of one Coefficients
  bool isSet_ = false;
};

}  // namespace tandem

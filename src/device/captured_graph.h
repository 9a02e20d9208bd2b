#pragma once

#include <ATen/core/Generator.h>

#include <functional>
#include <memory>

#include "device/device.h"

namespace tandem {

/// Work of a device that is enqueued once and then launched again as a whole: a CUDA graph, or several with calls of
/// the host between them. All methods on the thread whose device is bound.
class CapturedGraph {
 public:
  virtual ~CapturedGraph() = default;

  /// Calls `work` once; what it enqueues on the current stream is kept instead of done. The memory that it takes and
  /// gives back stays this object's, where each launch finds it again; numbers drawn from `generator` are new ones in
  /// each. Nothing in it may wait for the device, nor draw from other generators. Once only, and if several devices
  /// record, each before any launches. Throws what `work` throws and what the library refuses; the device and its
  /// generators then go on as before, what `work` did on the host is not undone.
  virtual void record(const std::function<void()>& work, const at::Generator& generator) = 0;

  /// Within `work`: a call that each launch makes, on its thread, after all was enqueued that `work` did before and
  /// before the rest is. It is not made now. It may wait, and what it enqueues is enqueued anew each time. REQUIRES:
  /// `work` enqueues something before it, after the call before, and after the last one.
  virtual void call(std::function<void()> onHost) = 0;

  /// Enqueues on the current stream what was recorded. Throws what a call of the host throws.
  virtual void launch() = 0;
};

/// REQUIRES: a GPU, and a build with CUDA.
std::unique_ptr<CapturedGraph> makeCapturedGraph(const Device& device);

}  // namespace tandem

#pragma once

#include <ATen/core/Generator.h>

#include <functional>
#include <memory>

#include "device/device.h"

namespace tandem {

/// Work of a device that is enqueued once and then launched as a whole. It is one CUDA graph, or several with host
/// calls between them. All methods run on the thread that the device is bound to.
class CapturedGraph {
 public:
  virtual ~CapturedGraph() = default;

  /// Calls `work` once and captures what it enqueues on the current stream instead of running it. Memory that it takes
  /// and frees stays with this object, and every launch uses it again. Every launch draws new numbers from `generator`.
  ///
  /// A later call captures anew, into the memory of the capture before, which it replaces. After an exception nothing
  /// is captured.
  ///
  /// REQUIRES: earlier launches have ended; `work` neither waits for the device nor draws from another generator; if
  /// several devices capture, all have captured before any launches. Throws what `work` throws and what CUDA refuses.
  /// After an exception the device and its generators work as before; host effects of `work` remain.
  virtual void record(const std::function<void()>& work, const at::Generator& generator) = 0;

  /// Within `work`: adds a host call that every launch makes on its own thread, at this point of the order. It is not
  /// made now. It may wait, and the work that it enqueues is enqueued anew by every launch. REQUIRES: `work` enqueues
  /// something before the first call, between two calls, and after the last one.
  virtual void call(std::function<void()> onHost) = 0;

  /// Enqueues the captured work on the current stream. Throws what a host call throws.
  virtual void launch() = 0;
};

/// REQUIRES: a GPU, and a build with CUDA. `device` outlives the result.
std::unique_ptr<CapturedGraph> makeCapturedGraph(const Device& device);

/// Makes the object that captures a device's work. Empty: work is not captured.
using GraphRecorder = std::function<std::unique_ptr<CapturedGraph>(const Device&)>;

}  // namespace tandem

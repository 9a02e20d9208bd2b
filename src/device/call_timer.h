#pragma once

#include <ATen/core/Generator.h>

#include <functional>
#include <memory>
#include <string_view>

#include "device/captured_graph.h"
#include "device/device.h"

namespace tandem {

/// Measures how long calls take on a device that else is idle, for choices between ways to compute the same. Use on the
/// thread that the device is bound to.
///
/// With a recorder, calls are timed as a captured step runs them: in a graph and by the device's clock. The host's work
/// for a call then does not count. Without one, and for a call that cannot be captured, the host's clock times calls in
/// a row, and that work counts wherever the device waits for it.
class CallTimer {
 public:
  /// `device` outlives it. REQUIRES: no recorder for a device without streams.
  CallTimer(const Device& device, const GraphRecorder& recorder);

  /// Mean seconds of a call, with the device's work. The first call is not timed, because libraries may choose their
  /// kernels in it. REQUIRES: `call` enqueues the same work each time, and draws no random numbers. Throws what it
  /// throws.
  double secondsOf(const std::function<void()>& call);

  /// What tells these times from those of another timer of the device, for keys of a cache: "in a graph", or "calls in
  /// a row".
  std::string_view way() const;

 private:
  bool captures(const std::function<void()>& call);

  const Device& device_;
  std::unique_ptr<CapturedGraph> graph_;  // null: calls in a row
  at::Generator generator_;
  bool warned_ = false;  // of a call that cannot be captured
};

}  // namespace tandem

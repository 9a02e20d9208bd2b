#pragma once

#include <cstdint>
#include <stdexcept>

#include "device/batch.h"
#include "device/captured_graph.h"

namespace tandem {

/// A step could not be captured. The text is the library's reason, in one line.
struct CaptureFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A replica's step as a CUDA graph (--cuda-graph). All methods run on the replica's thread.
///
/// The first steps run eagerly, because libraries then choose kernels and allocate memory, which cannot be captured.
/// The next step is captured with a batch whose memory this object keeps. Every later step copies its batch into that
/// memory and launches the graph. Both use the current stream, so the copy follows the previous step.
class CapturedStep {
 public:
  /// Runs one step on a batch. Returns its loss, [] on the device, or an undefined tensor. Apart from call(), it must
  /// only enqueue work, the same in every step.
  using Work = std::function<at::Tensor(const Batch&)>;
  static constexpr int64_t eagerSteps = 3;

  CapturedStep(std::unique_ptr<CapturedGraph> recorded, Work work, at::Generator generator);

  /// Runs one step and returns the loss of this batch; later steps do not overwrite it. Throws what `work` throws.
  /// During the capture it throws CaptureFailed instead, unless memory was refused.
  at::Tensor run(const Batch& batch);

  /// Whether the next run() captures. REQUIRES then: every replica of the process has finished its eager steps before
  /// any replica calls run().
  bool capturesNext() const { return done_ == eagerSteps; }

  /// Called within `work`: adds a host call that every step makes at this point of its work. Eager steps make it at
  /// once (CapturedGraph::call()).
  void call(std::function<void()> onHost);

 private:
  void record(const Batch& batch);
  void launch();
  /// Copies the batch to the memory that the graph reads.
  void copyIn(const Batch& batch);

  std::unique_ptr<CapturedGraph> captured_;
  Work work_;
  at::Generator generator_;
  int64_t done_ = 0;  // steps begun, the current one included
  Batch held_;        // input of the graph
  at::Tensor loss_;   // output of the graph
};

}  // namespace tandem

#pragma once

#include <cstdint>
#include <stdexcept>

#include "device/batch.h"
#include "device/captured_graph.h"

namespace tandem {

/// A step that cannot be recorded: the library's reason, in one line.
struct CaptureFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A replica's step as recorded work (--cuda-graph).
///
/// The first steps run as they are: libraries choose kernels and take memory then, which cannot be recorded. The next
/// one is recorded, on a batch whose memory stays; from then on a step is a copy into that memory, on the stream of the
/// steps and so after the one before, and a launch. On the replica's thread.
class CapturedStep {
 public:
  /// One step on a batch: its loss, [] on the device, or undefined. Recorded, so apart from calls of the host it only
  /// enqueues, and enqueues the same in every step.
  using Work = std::function<at::Tensor(const Batch&)>;
  static constexpr int64_t eagerSteps = 3;

  CapturedStep(std::unique_ptr<CapturedGraph> recorded, Work work, at::Generator generator);

  /// The loss of this batch, valid as long as anybody holds it. Throws what `work` throws; but where that is recorded,
  /// and memory was not refused, CaptureFailed.
  at::Tensor run(const Batch& batch);

  /// Whether run() records next. REQUIRES: all replicas of a team have come that far before one of them records.
  bool capturesNext() const { return done_ == eagerSteps; }

  /// Within `work`: a call of the host that every step makes, in its place amid what is enqueued.
  void call(std::function<void()> onHost);

 private:
  void record(const Batch& batch);
  void launch();
  /// Brings the batch to where the record reads it.
  void bring(const Batch& batch);

  std::unique_ptr<CapturedGraph> recorded_;
  Work work_;
  at::Generator generator_;
  int64_t done_ = 0;
  Batch held_;       // what the record reads
  at::Tensor loss_;  // what it writes
};

}  // namespace tandem

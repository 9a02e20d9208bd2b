#include "train/captured_step.h"

#include <ATen/ATen.h>

#include "base/text.h"
#include "device/out_of_memory.h"
#include "trace/span.h"

namespace tandem {
namespace {

void copyInto(const at::Tensor& held, const at::Tensor& given) {
  if (!held.is_same(given)) held.copy_(given, /*non_blocking=*/true);
}

}  // namespace

CapturedStep::CapturedStep(std::unique_ptr<CapturedGraph> recorded, Work work, at::Generator generator)
    : captured_(std::move(recorded)), work_(std::move(work)), generator_(std::move(generator)) {}

at::Tensor CapturedStep::run(const Batch& batch) {
  if (done_++ < eagerSteps) return work_(batch);
  if (held_.images.defined()) {
    copyIn(batch);
  } else {
    record(batch);
  }
  launch();
  return loss_.defined() ? loss_.clone() : loss_;
}

void CapturedStep::call(std::function<void()> onHost) {
  if (done_ <= eagerSteps) return onHost();
  captured_->call(std::move(onHost));
}

// The graph reads this batch's own tensors, without a further copy. A source either returns the same tensors in every
// step, or new ones, and then nobody else uses these.
void CapturedStep::record(const Batch& batch) {
  held_ = batch;
  try {
    captured_->record([this] { loss_ = work_(held_); }, generator_);
  } catch (const std::exception& failure) {
    if (isOutOfMemory(failure)) throw;  // the batch is too large; the step itself could be captured
    throw CaptureFailed(firstLine(failure.what()));
  }
}

void CapturedStep::launch() {
  const Span launching(SpanKind::launch);
  captured_->launch();
}

void CapturedStep::copyIn(const Batch& batch) {
  const Span copying(SpanKind::input);
  copyInto(held_.images, batch.images);
  copyInto(held_.labels, batch.labels);
}

}  // namespace tandem

#include <ATen/ATen.h>

#include <atomic>

#include "base/error.h"
#include "train/loss/loss_placement.h"

namespace tandem {
namespace {

/// Numbers of the last step whose product a replica has published, and the event behind which it is complete.
struct Published {
  std::atomic<int64_t> step{-1};
  Event event;
};

/// The way of Keras' multi_gpu_model and PyTorch's DataParallel. Replica 0 is the root: it fetches the joined batch,
/// the others slice it; it gathers the outputs, computes the one loss, and the others slice its gradient.
class GatheredLoss final : public LossPlacement {
 public:
  explicit GatheredLoss(const LossPlacementOptions& options)
      : options_(options),
        loss_(options.loss->on(options.devices.at(0)->torch())),
        replicas_(static_cast<int>(options.devices.size())),
        outputs_(options.devices.size()),
        published_(options.devices.size()),
        stepOf_(options.devices.size(), 0) {}

  bool needsSource(int index) const override { return index == 0; }
  int share() const override { return replicas_; }
  void fetch(int index, BatchSource* source, Batch& out) override;
  LossAndGradient compute(int index, const at::Tensor& output, const at::Tensor& labels, int64_t batch) override;

 private:
  const Device& device(int index) const { return *options_.devices.at(static_cast<size_t>(index)); }
  void publish(int index, Published& what, int64_t step);
  void await(int index, Published& what, int64_t step);
  at::Tensor sliceOf(const at::Tensor& joined, int index) const;
  void computeJoined(int64_t step);

  LossPlacementOptions options_;
  Loss loss_;  // on the root's device
  int replicas_;
  Batch joined_;                     // written by the root only
  std::vector<at::Tensor> outputs_;  // per replica
  LossAndGradient result_;           // of the joined batch, on the root's device
  Published batchReady_, lossReady_;
  std::vector<Published> published_;  // output of each replica
  std::vector<int64_t> stepOf_;       // next step of each replica, touched by its thread only
};

void GatheredLoss::publish(int index, Published& what, int64_t step) {
  what.event = device(index).record();
  what.step.store(step, std::memory_order_release);
  options_.monitor->notify();
}

void GatheredLoss::await(int index, Published& what, int64_t step) {
  options_.monitor->waitUntil([&] { return what.step.load(std::memory_order_acquire) >= step; });
  device(index).wait(what.event);
}

at::Tensor GatheredLoss::sliceOf(const at::Tensor& joined, int index) const {
  const int64_t rows = joined.size(0) / replicas_;
  return joined.narrow(0, index * rows, rows);
}

void GatheredLoss::fetch(int index, BatchSource* source, Batch& out) {
  const int64_t step = stepOf_[static_cast<size_t>(index)];
  if (index == 0) {
    check(source->next(joined_), "a training source ended");
    device(0).wait(joined_.ready);
    publish(0, batchReady_, step);
  } else {
    await(index, batchReady_, step);
  }
  out.index = joined_.index;
  out.data = joined_.data, out.augment = joined_.augment;
  out.ready = nullptr;
  const at::Device target = device(index).torch();
  out.images = sliceOf(joined_.images, index).to(target, /*non_blocking=*/true);
  out.labels = sliceOf(joined_.labels, index).to(target, /*non_blocking=*/true);
}

void GatheredLoss::computeJoined(int64_t step) {
  std::vector<at::Tensor> parts;
  for (int i = 0; i < replicas_; ++i) {
    await(0, published_[static_cast<size_t>(i)], step);
    parts.push_back(outputs_[static_cast<size_t>(i)].to(device(0).torch(), /*non_blocking=*/true));
  }
  const at::Tensor output = at::cat(parts);
  result_ = loss_(output, joined_.labels, options_.smoothing, output.size(0) / replicas_);
  publish(0, lossReady_, step);
}

LossAndGradient GatheredLoss::compute(int index, const at::Tensor& output, const at::Tensor&, int64_t batch) {
  check(output.size(0) == batch, "gathered outputs are whole batches");
  const int64_t step = stepOf_[static_cast<size_t>(index)]++;
  outputs_[static_cast<size_t>(index)] = output;
  publish(index, published_[static_cast<size_t>(index)], step);
  if (index == 0) {
    computeJoined(step);
  } else {
    await(index, lossReady_, step);
  }
  return {result_.loss.to(device(index).torch()),
          sliceOf(result_.gradient, index).to(device(index).torch(), /*non_blocking=*/true).contiguous()};
}

}  // namespace

std::unique_ptr<LossPlacement> makeGatheredLoss(const LossPlacementOptions& options) {
  return std::make_unique<GatheredLoss>(options);
}

}  // namespace tandem

#include "run/verify/reference_training.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "train/checkpoint/weight_loader.h"
#include "train/loss/loss.h"
#include "train/weight_init.h"

namespace tandem {
namespace {

ExecutorOptions executorOptions(const ReplicaSetOptions& team, const Precision& precision, at::Device device,
                                int replica) {
  return {.compute = precision.compute, .device = device, .dropoutSeed = dropoutSeedOf(team.seed, replica)};
}

/// The executor that calls ATen node by node.
const ExecutorEntry& plainExecutor() { return *std::ranges::find(executors(), false, &ExecutorEntry::planned); }

}  // namespace

ReferenceTraining::ReferenceTraining(const ReplicaSetOptions& team, const Precision& precision, at::Device device)
    : team_(team),
      precision_(precision),
      device_(device),
      buffers_(parameterSpecs(*team.graph), precision, device, team.kernels.layout.format),
      optimizer_(ruleOf(team.optimizer).makeReference(buffers_, team.optimizer)),
      lossScale_(precision.lossScaling ? team.lossScale.initial : 1),
      counting_{team.classWeights.defined() ? team.classWeights.to(device) : at::Tensor(), team.targetThreshold} {
  allowTf32(precision.tf32);
  optimizer_->allocateState();
  initialiseWeights(*team.graph, team.seed, team.whitening, buffers_);
  if (team.pretrained) setParameters(*team.pretrained, buffers_);
  for (int replica = 0; replica < totalReplicas(team); ++replica) {
    executors_.push_back(plainExecutor().make(executorOptions(team, precision, device, replica)));
    executors_.back()->bind(*team.graph, buffers_);
    executors_.back()->setTraining(!team.optimizer.trainsHeadAlone);
  }
  for (int segment = 0; segment < buffers_.segments(); ++segment) {
    sums_.push_back(at::zeros_like(buffers_.master(buffers_.whole(segment))));
  }
}

void ReferenceTraining::step(const Joined& joined) {
  const int64_t images = joined.batch.images.size(0) / std::ssize(executors_);
  const double divisor = meanShare(team_).value_or(static_cast<double>(images));
  for (at::Tensor& sum : sums_) sum.zero_();
  const auto parts = partsOf(images);
  const auto ofEach = static_cast<size_t>(team_.accumulate);
  for (size_t i = 0; i < parts.size(); ++i) {
    runPart(*executors_[i / ofEach], partOf(joined, parts[i]), divisor);
  }
  update();
  ++steps_;
}

std::vector<std::vector<ReferenceTraining::Rows>> ReferenceTraining::partsOf(int64_t images) const {
  const auto parts = static_cast<size_t>(team_.accumulate);
  const bool joins = joinsStatistics(team_);
  std::vector<std::vector<Rows>> all(joins ? parts : parts * executors_.size());
  int64_t first = 0;
  for (size_t replica = 0; replica < executors_.size(); ++replica) {
    const int64_t share = team_.shares.empty() ? images : team_.shares[replica], rows = share / team_.accumulate;
    for (size_t part = 0; part < parts; ++part, first += rows) {
      all[joins ? part : replica * parts + part].push_back({first, rows});
    }
  }
  return all;
}

Batch ReferenceTraining::partOf(const Joined& joined, const std::vector<Rows>& rows) const {
  std::vector<at::Tensor> images, labels;
  for (const auto& [first, count] : rows) {
    const at::Tensor bytes = joined.batch.images.narrow(0, first, count).to(device_);  // [N, H, W, C]
    const at::Tensor like = at::empty({0, bytes.size(3), 1, 1}, at::dtype(precision_.compute).device(device_));
    Batch stretch;
    stretch.images = normalizeReference(bytes, joined.normalization, like);
    stretch.labels = joined.batch.labels.narrow(0, first, count).to(device_);
    if (joined.mixing.any()) mixNeighbours(joined.mixing, joined.number, first, stretch);
    images.push_back(std::move(stretch.images)), labels.push_back(std::move(stretch.labels));
  }
  Batch part;
  part.images = at::cat(images).contiguous(team_.kernels.layout.format);
  part.labels = at::cat(labels);
  return part;
}

void ReferenceTraining::runPart(Executor& executor, const Batch& part, double divisor) {
  const auto lossOf = tandem::lossOf(*team_.graph).reference;
  const auto outputs = executor.forward(part);
  std::vector<at::Tensor> gradients;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const double weight = i == 0 ? 1 : team_.graph->auxiliaries()[i - 1].lossWeight;
    const at::Tensor wide = outputs[i].to(at::kDouble);
    const at::Tensor gradient = lossOf(wide, part.labels, team_.labelSmoothing, divisor, counting_).gradient;
    gradients.push_back((gradient * (weight * lossScale_)).to(outputs[i].scalar_type()));
  }
  executor.backward(gradients, [](std::span<const Slice>) {});
  addGradients();
}

void ReferenceTraining::addGradients() {
  const at::NoGradGuard noGradients;
  for (int segment = 0; segment < buffers_.segments(); ++segment) {
    sums_[static_cast<size_t>(segment)].add_(buffers_.written(buffers_.whole(segment)));
  }
}

// The sum is rounded as gradients are when replicas exchange them.
void ReferenceTraining::update() {
  const at::NoGradGuard noGradients;
  optimizer_->beginStep(steps_, 1 / (lossScale_ * static_cast<double>(executors_.size())));
  for (int segment = 0; segment < buffers_.segments(); ++segment) {
    const Slice whole = buffers_.whole(segment);
    buffers_.gradient(whole).copy_(sums_[static_cast<size_t>(segment)]);
    if (optimizer_->clips()) optimizer_->measure(whole);
  }
  if (optimizer_->clips()) optimizer_->clip(optimizer_->squares());
  for (int segment = 0; segment < buffers_.segments(); ++segment) optimizer_->update(buffers_.whole(segment));
}

}  // namespace tandem

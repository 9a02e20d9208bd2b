#include "engine/member.h"

#include <ATen/ATen.h>

#include "base/span.h"
#include "engine/gradient_sum.h"
#include "engine/initialise.h"
#include "engine/pretrained.h"

namespace tandem {
namespace {

constexpr uint64_t dropoutSeedStep = 0x9E3779B97F4A7C15ULL;

ExecutorOptions executorOptions(const TeamOptions& options, int index) {
  return {.compute = options.precision->compute,
          .layout = *options.kernels.layout,
          .algorithms = options.kernels.algorithms,
          .device = options.devices.at(static_cast<size_t>(index)).torch(),
          .dropoutSeed = options.seed + dropoutSeedStep * static_cast<uint64_t>(index + 1),
          .recompute = options.recompute};
}

class TeamMember final : public Team::Member {
 public:
  TeamMember(int index, const TeamShared& shared)
      : shared_(shared),
        device_(shared.options.devices.at(static_cast<size_t>(index))),
        buffers_(parameterSpecs(*shared.options.graph, executorOptions(shared.options, index)),
                 *shared.options.precision, device_.torch(), shared.options.kernels.layout->format),
        executor_(shared.options.executor->make(executorOptions(shared.options, index))),
        optimizer_(makeOptimizer(buffers_, shared.options.optimizer)),
        replica_{index, device_, buffers_, *optimizer_},
        sum_(buffers_, shared.options.accumulate),
        ready_([this](Slice slice) {
          if (!sum_.add(slice, part_)) return;
          const Span handingOver(SpanKind::exchange);
          shared_.strategy.gradientReady(replica_, slice);
        }) {
    initialiseWeights(*shared.options.graph, shared.options.seed, buffers_);
    const Pretrained* pretrained = shared.options.pretrained.get();
    if (pretrained != nullptr) setParameters(*pretrained, buffers_);
    shared_.strategy.attach(replica_);  // before anybody views the weights
    executor_->bind(*shared.options.graph, buffers_);
    if (pretrained != nullptr) setStatistics(*pretrained, *executor_);
    executor_->setTraining(!shared.options.forwardOnly);
    executor_->setGradients(!shared.options.forwardOnly);
    if (shared.lossPlace.needsSource(index)) source_ = shared.options.source(index);
  }

  int index() const override { return replica_.index; }
  StepSample step() override;
  const Batch& batch() const override { return batch_; }
  std::vector<double> losses() override;
  void synchronize() override { device_.synchronize(); }
  void barrier() override { shared_.barrier.arriveAndWait(); }
  void finish() override { shared_.strategy.finish(replica_); }
  Executor& executor() override { return *executor_; }
  FlatBuffers& buffers() override { return buffers_; }

 private:
  void fetch();
  void train();
  /// Loss of one part's batch of the whole one's `images`; undefined without backward.
  at::Tensor trainPart(const Batch& part, int64_t images);
  std::span<const at::Tensor> forward(const Batch& part);
  /// Appends the gradient of each output.
  at::Tensor lossOf(std::span<const at::Tensor> outputs, const at::Tensor& labels, int64_t images,
                    std::vector<at::Tensor>& gradients);

  TeamShared shared_;
  const Device& device_;
  FlatBuffers buffers_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Optimizer> optimizer_;
  Replica replica_;
  GradientSum sum_;
  int64_t part_ = 0;  // of the batch
  GradientReady ready_;
  std::unique_ptr<BatchSource> source_;
  Batch batch_;
  std::vector<at::Tensor> losses_;  // stay on the device until they are asked for
  int64_t step_ = 0;
};

at::Tensor TeamMember::trainPart(const Batch& part, int64_t images) {
  const auto outputs = forward(part);
  if (shared_.options.forwardOnly) return {};
  std::vector<at::Tensor> gradients;
  const at::Tensor loss = lossOf(outputs, part.labels, images, gradients);
  const Span backward(SpanKind::backward);
  executor_->backward(gradients, ready_);
  return loss;
}

std::span<const at::Tensor> TeamMember::forward(const Batch& part) {
  const Span forward(SpanKind::forward);
  return executor_->forward(part);
}

at::Tensor TeamMember::lossOf(std::span<const at::Tensor> outputs, const at::Tensor& labels, int64_t images,
                              std::vector<at::Tensor>& gradients) {
  const Span loss(SpanKind::loss);
  LossAndGradient whole = shared_.lossPlace.compute(replica_.index, outputs[0], labels, images);
  gradients.push_back(whole.gradient);
  for (size_t i = 1; i < outputs.size(); ++i) {
    const double weight = shared_.options.graph->auxiliaries()[i - 1].lossWeight;
    const LossAndGradient more = shared_.lossPlace.compute(replica_.index, outputs[i], labels, images);
    whole.loss = whole.loss + more.loss * weight;
    gradients.push_back(more.gradient * weight);
  }
  return whole.loss;
}

void TeamMember::train() {
  const int64_t parts = shared_.options.accumulate, images = batch_.images.size(0), rows = images / parts;
  at::Tensor loss;
  for (part_ = 0; part_ < parts; ++part_) {
    Batch part = batch_;
    part.images = batch_.images.narrow(0, part_ * rows, rows);
    part.labels = batch_.labels.narrow(0, part_ * rows, rows);
    const at::Tensor ofPart = trainPart(part, images);
    if (ofPart.defined()) loss = loss.defined() ? loss + ofPart : ofPart;
  }
  if (loss.defined()) losses_.push_back(parts == 1 ? loss : loss / parts);
}

void TeamMember::fetch() {
  const Span waiting(SpanKind::input);
  shared_.lossPlace.fetch(replica_.index, source_.get(), batch_);
}

StepSample TeamMember::step() {
  StepSample sample{.replica = replica_.index};
  const Span whole(SpanKind::step);
  const bool exchange = !shared_.options.forwardOnly;
  const Nanos begin = now();
  if (exchange) {
    const Span pulling(SpanKind::exchange);
    shared_.strategy.beginStep(replica_, step_);
  }
  const Nanos pulled = now();
  fetch();
  const Nanos fetched = now();
  train();
  const Nanos computed = now();
  if (exchange) {
    const Span exchanging(SpanKind::exchange);
    shared_.strategy.endStep(replica_, step_);
  }
  const Nanos end = now();
  ++step_;
  sample.wall = end - begin;
  sample.input = fetched - pulled;
  sample.compute = computed - fetched;
  sample.exposedComm = (pulled - begin) + (end - computed);
  return sample;
}

std::vector<double> TeamMember::losses() {
  std::vector<double> values;
  for (const at::Tensor& loss : losses_) values.push_back(loss.item<float>());
  return values;
}

}  // namespace

std::unique_ptr<Team::Member> makeMember(int index, const TeamShared& shared) {
  return std::make_unique<TeamMember>(index, shared);
}

}  // namespace tandem

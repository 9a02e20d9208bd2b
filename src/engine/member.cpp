#include "engine/member.h"

#include <ATen/ATen.h>

#include "engine/initialise.h"

namespace tandem {
namespace {

constexpr uint64_t dropoutSeedStep = 0x9E3779B97F4A7C15ULL;

ExecutorOptions executorOptions(const TeamOptions& options, int index) {
  return {.compute = options.precision->compute,
          .layout = options.layout,
          .device = options.devices.at(static_cast<size_t>(index)).torch(),
          .dropoutSeed = options.seed + dropoutSeedStep * static_cast<uint64_t>(index + 1)};
}

class TeamMember final : public Team::Member {
 public:
  TeamMember(int index, const TeamShared& shared)
      : shared_(shared),
        device_(shared.options.devices.at(static_cast<size_t>(index))),
        buffers_(parameterSpecs(*shared.options.graph), *shared.options.precision, device_.torch(),
                 shared.options.layout.format),
        executor_(shared.options.executor->make(executorOptions(shared.options, index))),
        optimizer_(makeSgd(buffers_, shared.options.optimizer)),
        replica_{index, device_, buffers_, *optimizer_},
        ready_([this](Slice slice) { shared_.strategy.gradientReady(replica_, slice); }) {
    initialiseWeights(*shared.options.graph, shared.options.seed, buffers_);
    executor_->bind(*shared.options.graph, buffers_);
    executor_->setTraining(!shared.options.forwardOnly);
    executor_->setGradients(!shared.options.forwardOnly);
    if (shared.lossPlace.needsSource(index)) source_ = shared.options.source(index);
    shared_.strategy.attach(replica_);
  }

  int index() const override { return replica_.index; }
  StepSample step() override;
  std::vector<double> losses() override;
  void synchronize() override { device_.synchronize(); }
  void barrier() override { shared_.barrier.arriveAndWait(); }
  void finish() override { shared_.strategy.finish(replica_); }
  Executor& executor() override { return *executor_; }
  FlatBuffers& buffers() override { return buffers_; }

 private:
  void train();

  TeamShared shared_;
  const Device& device_;
  FlatBuffers buffers_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Optimizer> optimizer_;
  Replica replica_;
  GradientReady ready_;
  std::unique_ptr<BatchSource> source_;
  Batch batch_;
  std::vector<at::Tensor> losses_;  // stay on the device until they are asked for
  int64_t step_ = 0;
};

void TeamMember::train() {
  const auto outputs = executor_->forward(batch_);
  if (shared_.options.forwardOnly) return;
  const LossAndGradient result = shared_.lossPlace.compute(replica_.index, outputs[0], batch_.labels);
  losses_.push_back(result.loss);
  executor_->backward({&result.gradient, 1}, ready_);
}

StepSample TeamMember::step() {
  StepSample sample{.replica = replica_.index};
  const bool exchange = !shared_.options.forwardOnly;
  const Nanos begin = now();
  if (exchange) shared_.strategy.beginStep(replica_);
  const Nanos pulled = now();
  shared_.lossPlace.fetch(replica_.index, source_.get(), batch_);
  const Nanos fetched = now();
  train();
  const Nanos computed = now();
  if (exchange) shared_.strategy.endStep(replica_, step_);
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

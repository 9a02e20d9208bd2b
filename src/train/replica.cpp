#include "train/replica.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "trace/span.h"
#include "train/captured_step.h"
#include "train/checkpoint/weight_loader.h"
#include "train/deferred_gradients.h"
#include "train/gradient_accumulator.h"
#include "train/in_flight_limiter.h"
#include "train/statistics_average.h"
#include "train/weight_init.h"

namespace tandem {
namespace {

ExecutorOptions executorOptions(int index, const ReplicaShared& shared) {
  const ReplicaSetOptions& team = shared.options;
  const at::Device device = team.devices.at(static_cast<size_t>(index)).torch();
  ExecutorOptions options{
      .compute = team.precision->compute, .kernels = team.kernels, .device = device, .recompute = team.recompute};
  options.dropoutSeed = dropoutSeedOf(team.seed, team.firstReplica + index);
  if (!shared.statistics.empty()) options.statistics = shared.statistics[static_cast<size_t>(index)].get();
  return options;
}

/// Null where the loss is not scaled.
std::unique_ptr<LossScale> lossScaleFor(const ReplicaSetOptions& options, const Device& device) {
  if (!options.precision->lossScaling || options.forwardOnly) return nullptr;
  return std::make_unique<LossScale>(device.torch(), options.lossScale);
}

/// Whether the exchange is captured with the step: possible if replicas do not wait for one another on the host.
bool recordsExchange(const ReplicaSetOptions& options) {
  const auto replicas = static_cast<int64_t>(options.devices.size());
  return options.recorder && options.strategy->enqueuesOnly(options.allReduce, replicas);
}

/// Set if the strategy must not get gradients one by one. Without overlap it gets them after backward. If the step is
/// captured without its exchange, it gets whole buckets, because each host call splits the graph.
std::optional<DeferredGradients> deferredIn(const ReplicaSetOptions& options, const FlatBuffers& buffers) {
  if (options.forwardOnly) return {};
  if (!options.overlap) return DeferredGradients(buffers, {});
  if (!options.recorder || recordsExchange(options)) return {};
  return DeferredGradients(buffers, planBuckets(buffers, options.buckets));
}

constexpr const char* generatorState = "generator";

/// Adds the tensors as "GROUP.NAME".
void addGroup(std::string_view group, const StateTensors& tensors, StateTensors& state) {
  for (const auto& [name, tensor] : tensors) state.emplace_back(concat(group, '.', name), tensor);
}

/// The tensor called so, in shape and type of `like`. Throws CheckpointError.
const at::Tensor& keptOf(const StateTensors& state, const std::string& name, const at::Tensor& like) {
  const auto found = std::ranges::find(state, name, &StateTensors::value_type::first);
  if (found == state.end()) throw CheckpointError(concat("tensor '", name, "' is missing"));
  if (found->second.sizes() == like.sizes() && found->second.scalar_type() == like.scalar_type()) return found->second;
  throw CheckpointError(concat("tensor '", name, "' has another shape or type than here"));
}

/// As a fault of memory would, in the weights alone. Not the last bit: later updates may round that away.
void flipBit(FlatBuffers& buffers) {
  at::Tensor weights = buffers.weights(buffers.slice(0));
  static_cast<uint8_t*>(weights.mutable_data_ptr())[weights.element_size() / 4] ^= 1;
}

class TrainingReplica final : public ReplicaBase {
 public:
  TrainingReplica(int index, const ReplicaShared& shared)
      : ReplicaBase(index, shared),
        executor_(shared.options.executor->make(executorOptions(index, shared))),
        sum_(buffers_, shared.options.accumulate),
        recordsExchange_(recordsExchange(shared.options)),
        deferred_(deferredIn(shared.options, buffers_)),
        ready_([this](std::span<const Slice> slices) {
          if (!sum_.add(slices, part_)) return;
          buffers_.roundGradients(slices);
          announceOrDefer(slices);
        }),
        inFlight_(shared.options.inFlight, shared.monitor) {
    optimizer_->setLossScale(lossScale_.get());
    initialiseWeights(*shared.options.graph, shared.options.seed, shared.options.whitening, buffers_);
    const Pretrained* pretrained = shared.options.pretrained.get();
    if (pretrained != nullptr) setParameters(*pretrained, buffers_);
    shared_.strategy.attach(replica_);  // it may replace the buffers' memory, so nothing may view the weights before
    executor_->bind(*shared.options.graph, buffers_);
    if (pretrained != nullptr) tandem::setStatistics(*pretrained, *executor_);
    const OptimizerOptions& updates = shared_.options.optimizer;
    if (updates.average.isKept() && !shared_.options.forwardOnly) {
      average_.emplace(executor_->statistics(),
                       AverageStep(updates.average, updates.course.totalSteps, device_.torch()));
    }
    // A frozen body computes as in evaluation: by its running statistics, which stay, and without dropout.
    executor_->setTraining(!shared.options.forwardOnly && !shared.options.optimizer.trainsHeadAlone);
    executor_->setGradients(!shared.options.forwardOnly);
    readFrom(shared.options.source);
  }

  StepSample step() override;
  const Batch& batch() const override { return batch_; }
  std::vector<double> losses() override;
  std::optional<LossScaleState> lossScale() override {
    return lossScale_ ? std::optional(lossScale_->state()) : std::nullopt;
  }
  Executor& executor() override { return *executor_; }
  StateTensors ownState() override;
  void setOwnState(const StateTensors& state) override;
  void setStatistics(const StateTensors& state) override;
  void swapStatistics() override {
    if (average_) average_->swap();
  }
  void continueAt(int64_t step) override { step_ = step; }
  void readFrom(const BatchSourceMaker& source) override;

 private:
  void fetch();
  /// Running statistics and their average, by name.
  StateTensors statistics();
  /// Runs all micro-batches. Returns the batch's loss, or an undefined tensor without backward.
  at::Tensor train(const Batch& batch);
  /// Passes finished gradients to the strategy: now, in a host call of the CUDA graph, or in exchange().
  void announceOrDefer(std::span<const Slice> slices);
  void announce(std::span<const Slice> slices);
  void exchange();
  /// The part of a step that is captured: train(), and exchange() if it can be captured.
  at::Tensor recordable(const Batch& batch);
  void keep(const at::Tensor& loss) {
    if (loss.defined()) losses_.push_back(loss);
  }
  /// Trains one micro-batch. Its gradient is that of a mean over `divisor` images. Returns its loss, or an undefined
  /// tensor without backward.
  at::Tensor trainPart(const Batch& part, double divisor);
  std::span<const at::Tensor> forward(const Batch& part);
  /// Loss of one output. With a loss scale it is computed in fp32, so that the gradient is scaled before fp16 can round
  /// it to zero.
  LossAndGradient lossOf(const at::Tensor& output, const at::Tensor& labels, double divisor);
  /// Loss of all outputs, weighted. Appends the gradient of each output.
  at::Tensor lossOf(std::span<const at::Tensor> outputs, const at::Tensor& labels, double divisor,
                    std::vector<at::Tensor>& gradients);

  std::unique_ptr<Executor> executor_;
  std::optional<StatisticsAverage> average_;  // of running statistics; none: weights are not averaged either
  GradientAccumulator sum_;
  bool recordsExchange_;
  std::optional<DeferredGradients> deferred_;
  int64_t part_ = 0;  // number of the current micro-batch
  GradientReady ready_;
  BatchSourceMaker makesSource_;  // outlives what it makes, which may use its devices
  std::unique_ptr<BatchSource> source_;
  Batch batch_;
  std::vector<at::Tensor> losses_;  // stay on the device until they are asked for
  std::optional<CapturedStep> captured_;
  InFlightLimiter inFlight_;
  Event ended_;  // end of the last step
  int64_t step_ = 0;
};

at::Tensor TrainingReplica::trainPart(const Batch& part, double divisor) {
  const auto outputs = forward(part);
  if (shared_.options.forwardOnly) return {};
  std::vector<at::Tensor> gradients;
  at::Tensor loss = lossOf(outputs, part.labels, divisor, gradients);
  const Span backward(SpanKind::backward);
  executor_->backward(gradients, ready_);
  return loss;
}

std::span<const at::Tensor> TrainingReplica::forward(const Batch& part) {
  const Span forward(SpanKind::forward);
  return executor_->forward(part);
}

LossAndGradient TrainingReplica::lossOf(const at::Tensor& output, const at::Tensor& labels, double divisor) {
  if (!lossScale_) return shared_.outputs.compute(replica_.index, output, labels, divisor);
  const LossAndGradient wide = shared_.outputs.compute(replica_.index, output.to(at::kFloat), labels, divisor);
  return {wide.loss, (wide.gradient * lossScale_->factor()).to(output.scalar_type())};
}

at::Tensor TrainingReplica::lossOf(std::span<const at::Tensor> outputs, const at::Tensor& labels, double divisor,
                                   std::vector<at::Tensor>& gradients) {
  const Span loss(SpanKind::loss);
  LossAndGradient whole = lossOf(outputs[0], labels, divisor);
  gradients.push_back(whole.gradient);
  for (size_t i = 1; i < outputs.size(); ++i) {
    const double weight = shared_.options.graph->auxiliaries()[i - 1].lossWeight;
    const LossAndGradient more = lossOf(outputs[i], labels, divisor);
    whole.loss = whole.loss + more.loss * weight;
    gradients.push_back(more.gradient * weight);
  }
  return whole.loss;
}

at::Tensor TrainingReplica::train(const Batch& batch) {
  const int64_t parts = shared_.options.accumulate, images = batch.images.size(0), rows = images / parts;
  const double divisor = meanShare(shared_.options).value_or(static_cast<double>(images));
  at::Tensor loss;
  for (part_ = 0; part_ < parts; ++part_) {
    Batch part = batch;
    part.images = batch.images.narrow(0, part_ * rows, rows);
    part.labels = batch.labels.narrow(0, part_ * rows, rows);
    const at::Tensor ofPart = trainPart(part, divisor);
    if (ofPart.defined()) loss = loss.defined() ? loss + ofPart : ofPart;
  }
  if (average_) average_->add();
  return loss.defined() && parts > 1 ? loss / parts : loss;
}

void TrainingReplica::announceOrDefer(std::span<const Slice> slices) {
  if (!deferred_) return announce(slices);
  if (deferred_->note(slices)) captured_->call([this, noted = deferred_->take()] { announce(noted); });
}

void TrainingReplica::announce(std::span<const Slice> slices) {
  const Span handingOver(SpanKind::exchange);
  for (const Slice slice : slices) shared_.strategy.gradientReady(replica_, slice);
}

void TrainingReplica::exchange() {
  if (shared_.options.forwardOnly) return;
  const Span exchanging(SpanKind::exchange);
  if (deferred_) announce(deferred_->rest());
  shared_.strategy.endStep(replica_);
  if (lossScale_) lossScale_->endStep();
}

at::Tensor TrainingReplica::recordable(const Batch& batch) {
  at::Tensor loss = train(batch);
  if (recordsExchange_) exchange();
  return loss;
}

void TrainingReplica::fetch() {
  const Span waiting(SpanKind::input);
  shared_.feed.fetch(replica_.index, source_.get(), batch_);
}

StepSample TrainingReplica::step() {
  StepSample sample{.replica = replica_.index};
  if (threadFlight != nullptr) threadFlight->beginStep(step_);
  const Span whole(SpanKind::step);
  const Nanos begin = now();
  if (!shared_.options.forwardOnly) {
    const Span pulling(SpanKind::exchange);
    shared_.strategy.beginStep(replica_, step_);
  }
  const Nanos pulled = now();
  fetch();
  const Nanos fetched = now();
  if (average_) average_->begin(step_);
  inFlight_.add(std::move(ended_));  // counts as compute: the host waits here for the device's computation
  // The first capture frees the unused memory of all GPUs, so every replica must have made its eager steps.
  if (captured_ && captured_->capturesNext()) barrier();
  if (!shared_.options.loaderOnly) keep(captured_ ? captured_->run(batch_) : train(batch_));
  const Nanos computed = now();
  if (!recordsExchange_) exchange();
  ended_ = device_.record();
  if (threadFlight != nullptr && threadFlight->spoils(FaultKind::flipBit)) flipBit(buffers_);
  const Nanos end = now();
  ++step_;
  sample.wall = end - begin;
  sample.input = fetched - pulled;
  sample.compute = computed - fetched;
  sample.exposedComm = (pulled - begin) + (end - computed);
  return sample;
}

std::vector<double> TrainingReplica::losses() {
  std::vector<double> values;
  for (const at::Tensor& loss : losses_) values.push_back(loss.item<float>());
  losses_.clear();
  return values;
}

// A step is captured for images of one size.
void TrainingReplica::readFrom(const BatchSourceMaker& source) {
  source_.reset();  // before what makes it, and before the next one takes memory
  makesSource_ = source;
  if (shared_.feed.needsSource(replica_.index)) source_ = makesSource_(replica_.index);
  if (!shared_.options.recorder) return;
  captured_.emplace(
      shared_.options.recorder(device_), [this](const Batch& batch) { return recordable(batch); },
      executor_->generator());
}

StateTensors TrainingReplica::statistics() {
  StateTensors state;
  addGroup("statistics", executor_->statistics(), state);
  if (average_) addGroup("averaged_statistics", average_->tensors(), state);
  return state;
}

StateTensors TrainingReplica::ownState() {
  StateTensors state = statistics();
  if (lossScale_) addGroup("loss_scale", lossScale_->tensors(), state);
  addGroup("strategy", shared_.strategy.ownState(replica_), state);
  state.emplace_back(generatorState, executor_->generator().get_state());
  return state;
}

void TrainingReplica::setStatistics(const StateTensors& state) {
  const at::NoGradGuard noGradients;
  for (auto& [name, tensor] : statistics()) tensor.copy_(keptOf(state, name, tensor));
}

void TrainingReplica::setOwnState(const StateTensors& state) {
  const at::NoGradGuard noGradients;
  for (auto& [name, tensor] : ownState()) {
    const at::Tensor& kept = keptOf(state, name, tensor);
    if (name == generatorState) {
      at::Generator(executor_->generator()).set_state(kept);
    } else {
      tensor.copy_(kept);
    }
  }
}

}  // namespace

ReplicaBase::ReplicaBase(int index, const ReplicaShared& shared)
    : shared_(shared),
      device_(shared.options.devices.at(static_cast<size_t>(index))),
      buffers_(parameterSpecs(*shared.options.graph, executorOptions(index, shared)), *shared.options.precision,
               device_.torch(), shared.options.kernels.layout.format),
      optimizer_(makeOptimizer(buffers_, shared.options.optimizer)),
      lossScale_(lossScaleFor(shared.options, device_)),
      replica_{index, device_, buffers_, *optimizer_, lossScale_.get()} {}

std::unique_ptr<ReplicaSet::Member> makeReplica(int index, const ReplicaShared& shared) {
  return std::make_unique<TrainingReplica>(index, shared);
}

}  // namespace tandem

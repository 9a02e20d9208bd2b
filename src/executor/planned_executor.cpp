#include "executor/planned_executor.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/error.h"
#include "device/rng.h"
#include "executor/aten_ops.h"
#include "executor/compile/fusion.h"
#include "executor/compile/layout_assignment.h"
#include "executor/compile/liveness.h"
#include "executor/compile/op_cost.h"
#include "executor/planned_operation.h"
#include "executor/select/channel_padding.h"
#include "graph/operation.h"
#include "kernels/conv/nchwc.h"
#include "kernels/norm/norm_act.h"
#include "trace/op_scope.h"

namespace tandem {
namespace {

/// A call of the plan with all that belongs to it.
struct Step {
  size_t call = 0;  // index in the plan
  PlannedBinding binding;
  OpLayout layout;
  std::vector<Slice> slices;  // of its parameters
  std::unique_ptr<PlannedOperation> operation;
  std::vector<NodeId> lastUseOf;  // values that nobody reads after this call
  bool backward = false;          // something at or before it has a gradient
  bool keeps = true;              // forward keeps what its backward reads
  bool again = false;             // forward runs again before backward
  bool auxiliary = false;         // training only
};

class PlannedExecutor final : public Executor {
 public:
  explicit PlannedExecutor(const ExecutorOptions& options)
      : options_(options), generator_(newGenerator(options.device, options.dropoutSeed)) {}

  void bind(const Graph& graph, FlatBuffers& buffers) override;
  void setTraining(bool training) override { mode_.training = training; }
  void setGradients(bool keep) override { mode_.gradients = keep; }
  std::span<const at::Tensor> forward(const Batch& batch) override;
  void backward(std::span<const at::Tensor> outputGradients, const GradientReady& ready) override;
  const at::Generator& generator() const override { return generator_; }
  std::vector<std::pair<std::string, at::Tensor>> statistics() const override;

 private:
  void bindParameters(const Graph& graph, FlatBuffers& buffers);
  void bindStatistics();
  void planLayouts(const Graph& graph);
  void planValues(const Graph& graph);
  std::vector<at::Tensor> inputsOf(const Step& step, const std::vector<at::Tensor>& values) const;
  /// `tensor`, which is blocked or not, in the requested form.
  at::Tensor inLayout(const at::Tensor& tensor, bool isBlocked, bool blocked) const;
  /// Recomputes what backward of the segment's calls reads.
  void repeat(const Recomputation::Segment& segment);
  void backward(Step& step, std::vector<std::vector<at::Tensor>>& gradients, const GradientReady& ready);

  ExecutorOptions options_;
  at::Generator generator_;
  PassMode mode_;
  std::vector<PlannedNode> plan_;
  std::vector<Step> steps_;  // one per planned node
  size_t values_ = 0;        // nodes of the graph
  int64_t imageChannels_ = 0;
  std::vector<bool> blocked_;  // per value
  Recomputation recomputation_;
  std::vector<at::Tensor> held_;     // per value, of the last forward: the inputs of repetitions
  int64_t images_ = 0;               // of the last forward
  std::vector<NodeId> outputNodes_;  // of the graph
  std::vector<std::vector<int64_t>> outputShapes_;
  std::vector<at::Tensor> outputs_;
  bool kept_ = false;  // whether the last forward kept what backward reads
};

void PlannedExecutor::bind(const Graph& graph, FlatBuffers& buffers) {
  plan_ = withPaddedImages(fuse(graph, options_.device), graph, options_.kernels.zeroChannels);
  imageChannels_ = graph.node(graph.input()).shape.channels + options_.kernels.zeroChannels;
  values_ = graph.nodes().size();
  outputNodes_ = graph.outputs();
  const std::vector<bool> auxiliary = auxiliaryOnly(graph);
  steps_.clear();
  steps_.resize(plan_.size());
  for (size_t i = 0; i < plan_.size(); ++i) {
    steps_[i].auxiliary = auxiliary[static_cast<size_t>(plan_[i].output)];
    steps_[i].call = i;
    steps_[i].binding.plan = &plan_[i];
    steps_[i].binding.node = &graph.node(plan_[i].node);
    steps_[i].binding.generator = &generator_;
    steps_[i].binding.statistics = options_.statistics;
    steps_[i].binding.format = options_.kernels.layout.format;
    steps_[i].binding.plansOf = options_.plansOf;
    steps_[i].binding.algorithms = options_.kernels.algorithmsOf(plan_[i].node);
    steps_[i].binding.engines = options_.kernels.enginesOf(plan_[i].node);
    steps_[i].binding.norms = options_.kernels.normsOf(plan_[i].node);
  }
  bindParameters(graph, buffers);
  bindStatistics();
  planLayouts(graph);
  planValues(graph);
  for (Step& step : steps_) step.operation = makePlannedOperation(step.binding);
}

// Gradients are views of the flat buffers: backward writes them where they are exchanged, without a copy.
void PlannedExecutor::bindParameters(const Graph& graph, FlatBuffers& buffers) {
  std::vector<Step*> stepOf(values_, nullptr);
  for (Step& step : steps_) stepOf[static_cast<size_t>(step.binding.plan->node)] = &step;
  for (const Parameter& parameter : graph.parameters()) {
    const int index = buffers.indexOf(parameter.name);
    check(index >= 0, "a parameter of the graph is missing in the flat buffers");
    Step& step = *stepOf.at(static_cast<size_t>(parameter.node));
    const bool isBias = parameter.role == ParameterRole::bias || parameter.role == ParameterRole::normShift;
    (isBias ? step.binding.bias : step.binding.weight) = buffers.weightView(index);
    (isBias ? step.binding.biasGradient : step.binding.weightGradient) = buffers.gradientView(index);
    step.slices.insert(step.slices.begin(), buffers.slice(index));  // in the order of the buffers
  }
}

void PlannedExecutor::bindStatistics() {
  const auto options = at::TensorOptions().dtype(at::kFloat).device(options_.device);
  for (Step& step : steps_) {
    const Node& node = *step.binding.node;
    if (!node.operation->traits.batchNorm) continue;
    step.binding.runningMean = at::zeros({node.shape.channels}, options);
    step.binding.runningVar = at::ones({node.shape.channels}, options);
  }
}

// A value has one layout. A call that reads the other one gets a copy (inLayout()).
void PlannedExecutor::planLayouts(const Graph& graph) {
  blocked_.assign(values_, false);
  const auto layouts = options_.kernels.layout.blocked ? blockedLayouts(graph, plan_) : std::vector<OpLayout>();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const PlannedNode& call = plan_[i];
    steps_[i].layout =
        options_.kernels.layout.blocked ? layouts[i] : OpLayout{std::vector<bool>(call.inputs.size(), false), false};
    steps_[i].binding.blockedOutput = steps_[i].layout.output;
    blocked_[static_cast<size_t>(call.output)] = steps_[i].layout.output;
  }
}

at::Tensor PlannedExecutor::inLayout(const at::Tensor& tensor, bool isBlocked, bool blocked) const {
  if (isBlocked == blocked || !tensor.defined()) return tensor;
  return blocked ? toBlocked(tensor) : fromBlocked(tensor, images_);
}

void PlannedExecutor::planValues(const Graph& graph) {
  const Activations activations = activationsOf(graph, plan_, options_);
  recomputation_ = recomputation(activations, options_.recompute.cuts(activations));
  const bool sumsServe = hasNormActKernel(options_.device, options_.compute, options_.kernels.layout.format,
                                          /*joins=*/options_.statistics != nullptr);
  std::vector<Step*> lastUser(values_, nullptr), maker(values_, nullptr);
  for (Step& step : steps_) {
    for (const NodeId input : step.binding.plan->inputs) lastUser[static_cast<size_t>(input)] = &step;
    maker[static_cast<size_t>(step.binding.plan->output)] = &step;
  }
  for (const NodeId output : outputNodes_) lastUser[static_cast<size_t>(output)] = nullptr;  // the caller reads it
  for (size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    step.backward = activations.calls[i].backward;
    step.keeps = !recomputation_.repeats(i);
    step.again = recomputation_.again[i];
    for (const NodeId input : step.binding.plan->inputs) {
      const Step* made = maker[static_cast<size_t>(input)];
      step.binding.wantsGradient.push_back(made && made->backward);
    }
    const auto first = static_cast<size_t>(step.binding.plan->inputs.front());
    // An input may be overwritten if this call is its only reader, no repetition starts from it, and its maker's
    // backward does not read it.
    step.binding.mayOverwrite = maker[first] && maker[first]->binding.plan->readers == 1 &&
                                !recomputation_.kept[first] &&
                                maker[first]->binding.plan->activation == Activation::none &&
                                outputMayBeOverwritten(maker[first]->binding.node->operation->name);
    // The convolution and the batch-norm behind it share one place for the statistics.
    if (step.binding.plan->afterConvolution && sumsServe) {
      step.binding.sums = maker[first]->binding.sums = std::make_shared<ChannelStats>();
    }
  }
  for (size_t value = 0; value < values_; ++value) {
    if (lastUser[value]) lastUser[value]->lastUseOf.push_back(static_cast<NodeId>(value));
  }
}

std::vector<at::Tensor> PlannedExecutor::inputsOf(const Step& step, const std::vector<at::Tensor>& values) const {
  std::vector<at::Tensor> inputs;
  for (size_t k = 0; k < step.layout.inputs.size(); ++k) {
    const auto value = static_cast<size_t>(step.binding.plan->inputs[k]);
    inputs.push_back(inLayout(values[value], blocked_[value], step.layout.inputs[k]));
  }
  return inputs;
}

std::span<const at::Tensor> PlannedExecutor::forward(const Batch& batch) {
  const at::NoGradGuard noGradients;
  check(batch.images.size(1) == imageChannels_, "forward: images with the channels of the plan");
  std::vector<at::Tensor> values(values_);
  values[0] = batch.images;
  images_ = batch.images.size(0);
  held_.assign(values_, {});
  const auto hold = [&](size_t value) {
    if (mode_.gradients && recomputation_.kept[value]) held_[value] = values[value];
  };
  hold(0);
  for (Step& step : steps_) {
    if (step.auxiliary && !mode_.training) continue;
    const OpScope mark(forwardWork(step.call));
    const std::vector<at::Tensor> inputs = inputsOf(step, values);
    for (const NodeId dead : step.lastUseOf) values[static_cast<size_t>(dead)].reset();
    const auto output = static_cast<size_t>(step.binding.plan->output);
    const bool gradients = mode_.gradients && step.backward && step.keeps;
    values[output] = step.operation->forward(inputs, {mode_.training, gradients});
    hold(output);
  }
  outputs_.clear();
  outputShapes_.clear();
  const size_t outputs = mode_.training ? outputNodes_.size() : 1;
  for (size_t i = 0; i < outputs; ++i) {
    const auto value = static_cast<size_t>(outputNodes_[i]);
    const at::Tensor output = inLayout(values[value], blocked_[value], /*blocked=*/false);
    outputShapes_.push_back(output.sizes().vec());
    outputs_.push_back(output.dim() == 2 || !options_.flatOutputs ? output : output.flatten(1));
  }
  kept_ = mode_.gradients;
  return outputs_;
}

void PlannedExecutor::repeat(const Recomputation::Segment& segment) {
  std::vector<at::Tensor> values = held_;
  for (size_t i = segment.begin; i < segment.end; ++i) {
    Step& step = steps_[i];
    if (step.auxiliary && !mode_.training) continue;
    const auto output = static_cast<size_t>(step.binding.plan->output);
    if (step.again) {
      const OpScope mark(forwardWork(step.call));
      const PassMode mode{mode_.training, step.backward, /*again=*/true};
      values[output] = step.operation->forward(inputsOf(step, values), mode);
      // Its output need not be computed again; what its backward reads is kept now.
    } else if (step.backward) {
      step.operation->keep(inputsOf(step, values), values[output]);
    }
    for (const NodeId dead : step.lastUseOf) values[static_cast<size_t>(dead)].reset();
    held_[output].reset();  // earlier segments do not read it
  }
}

void PlannedExecutor::backward(std::span<const at::Tensor> ofOutputs, const GradientReady& ready) {
  check(kept_, "backward without a forward that kept gradients");
  check(ofOutputs.size() == outputs_.size(), "one gradient for each output");
  const at::NoGradGuard noGradients;
  kept_ = false;
  std::vector<std::vector<at::Tensor>> gradients(values_);  // one from each reader of the value
  for (size_t i = 0; i < ofOutputs.size(); ++i) {
    const auto value = static_cast<size_t>(outputNodes_[i]);
    gradients[value].push_back(inLayout(ofOutputs[i].view(outputShapes_[i]), /*isBlocked=*/false, blocked_[value]));
  }
  // From the last segment, which kept what backward reads, to the first. The others are repeated just before they are
  // read.
  const auto& segments = recomputation_.segments;
  for (size_t s = segments.size(); s-- > 0;) {
    if (s + 1 < segments.size()) repeat(segments[s]);
    for (size_t i = segments[s].end; i-- > segments[s].begin;) backward(steps_[i], gradients, ready);
  }
  held_.clear();
}

void PlannedExecutor::backward(Step& step, std::vector<std::vector<at::Tensor>>& gradients,
                               const GradientReady& ready) {
  auto& outputGradients = gradients[static_cast<size_t>(step.binding.plan->output)];
  if (!step.backward) return;
  std::vector<at::Tensor> inputs;
  if (!outputGradients.empty()) {
    const OpScope mark(backwardWork(step.call));
    inputs = step.operation->backward(std::move(outputGradients));
  } else {  // an auxiliary value's call, in evaluation
    for (const at::Tensor& gradient : {step.binding.weightGradient, step.binding.biasGradient}) {
      if (gradient.defined()) gradient.zero_();
    }
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!step.binding.wantsGradient[k]) continue;
    const auto value = static_cast<size_t>(step.binding.plan->inputs[k]);
    const bool same = step.layout.inputs[k] == blocked_[value];
    gradients[value].push_back(same ? std::move(inputs[k])
                                    : inLayout(inputs[k], step.layout.inputs[k], blocked_[value]));
  }
  if (!step.slices.empty()) ready(step.slices);
}

std::vector<std::pair<std::string, at::Tensor>> PlannedExecutor::statistics() const {
  std::vector<std::pair<std::string, at::Tensor>> all;
  for (const Step& step : steps_) {
    if (!step.binding.runningMean.defined()) continue;
    all.emplace_back(step.binding.node->name + ".running_mean", step.binding.runningMean);
    all.emplace_back(step.binding.node->name + ".running_var", step.binding.runningVar);
  }
  return all;
}

}  // namespace

std::unique_ptr<Executor> makePlannedExecutor(const ExecutorOptions& options) {
  return std::make_unique<PlannedExecutor>(options);
}

}  // namespace tandem

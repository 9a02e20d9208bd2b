#include "executor/autograd_executor.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include "base/error.h"
#include "device/rng.h"
#include "executor/aten_ops.h"
#include "graph/operation.h"

namespace tandem {
namespace {

/// Moves the accumulated gradient of a leaf over a weight slice into its flat slice, and reports it.
class GradientToSlice final : public torch::autograd::PostAccumulateGradHook {
 public:
  GradientToSlice(at::Tensor target, Slice slice, const GradientReady*& ready)
      : target_(std::move(target)), slice_(slice), ready_(ready) {}

  void operator()(const torch::autograd::Variable& leaf) override {
    const at::NoGradGuard noGradients;
    target_.copy_(leaf.grad());
    leaf.mutable_grad().reset();
    (*ready_)({&slice_, 1});
  }

 private:
  at::Tensor target_;
  Slice slice_;
  const GradientReady*& ready_;
};

/// A parameter's gradient.
struct Leaf {
  at::Tensor gradient;
  Slice slice;
};

/// A node with everything that its call needs, resolved once.
struct Step {
  AtenOp call = nullptr;
  const Node* node = nullptr;
  at::Tensor weight, bias, runningMean, runningVar;
  bool mayOverwrite = false;
  bool auxiliary = false;         // training only
  std::vector<NodeId> lastUseOf;  // values that nobody reads after this node
};

class AutogradExecutor final : public Executor {
 public:
  explicit AutogradExecutor(const ExecutorOptions& options)
      : options_(options), generator_(newGenerator(options.device, options.dropoutSeed)) {}

  void bind(const Graph& graph, FlatBuffers& buffers) override;
  void setTraining(bool training) override { training_ = training; }
  void setGradients(bool keep) override { gradients_ = keep; }
  std::span<const at::Tensor> forward(const Batch& batch) override;
  void backward(std::span<const at::Tensor> outputGradients, const GradientReady& ready) override;
  const at::Generator& generator() const override { return generator_; }
  std::vector<std::pair<std::string, at::Tensor>> statistics() const override;

 private:
  void bindParameters(FlatBuffers& buffers);
  void bindStatistics(Step& step);
  void planValues();
  at::Tensor run(const Step& step, std::vector<at::Tensor>& values);

  ExecutorOptions options_;
  at::Generator generator_;
  const Graph* graph_ = nullptr;
  std::vector<Step> steps_;          // one per node; the input's does nothing
  std::vector<at::Tensor> outputs_;  // with their autograd history
  std::vector<at::Tensor> detached_;
  std::vector<Leaf> auxiliaryLeaves_;
  const GradientReady* ready_ = nullptr;  // the callback of the running backward
  bool training_ = true, gradients_ = true;
};

void AutogradExecutor::bind(const Graph& graph, FlatBuffers& buffers) {
  graph_ = &graph;
  steps_.assign(graph.nodes().size(), Step{});
  const std::vector<bool> auxiliary = auxiliaryOnly(graph);
  for (size_t i = 1; i < steps_.size(); ++i) {
    const Node& node = graph.nodes()[i];
    steps_[i].node = &node;
    steps_[i].auxiliary = auxiliary[i];
    steps_[i].call = atenOp(node.operation->name);
    if (node.operation->traits.batchNorm) bindStatistics(steps_[i]);
  }
  bindParameters(buffers);
  planValues();
}

void AutogradExecutor::bindStatistics(Step& step) {
  // fp32 even if the compute type has 16 bits; tests compute their reference in fp64.
  const auto type = c10::promoteTypes(at::kFloat, options_.compute);
  const auto options = at::TensorOptions().dtype(type).device(options_.device);
  step.runningMean = at::zeros({step.node->shape.channels}, options);
  step.runningVar = at::ones({step.node->shape.channels}, options);
}

void AutogradExecutor::bindParameters(FlatBuffers& buffers) {
  for (const Parameter& parameter : graph_->parameters()) {
    const int index = buffers.indexOf(parameter.name);
    check(index >= 0, "a parameter of the graph is missing in the flat buffers");
    at::Tensor leaf = buffers.weightView(index).detach().requires_grad_();
    torch::autograd::impl::set_post_acc_grad_hooks(
        leaf, std::make_unique<GradientToSlice>(buffers.gradientView(index), buffers.slice(index), ready_));
    Step& step = steps_.at(static_cast<size_t>(parameter.node));
    const bool isBias = parameter.role == ParameterRole::bias || parameter.role == ParameterRole::normShift;
    (isBias ? step.bias : step.weight) = leaf;
    if (step.auxiliary) auxiliaryLeaves_.push_back({buffers.gradientView(index), buffers.slice(index)});
  }
}

// Values are released after their last reader, because autograd keeps what backward needs.
void AutogradExecutor::planValues() {
  std::vector<int> uses(steps_.size(), 0);
  std::vector<size_t> lastUse(steps_.size(), 0);
  for (size_t i = 1; i < steps_.size(); ++i) {
    for (const NodeId input : steps_[i].node->inputs) {
      ++uses[static_cast<size_t>(input)];
      lastUse[static_cast<size_t>(input)] = i;
    }
  }
  for (const NodeId output : graph_->outputs()) {  // read by the caller, after all nodes
    ++uses[static_cast<size_t>(output)];
    lastUse[static_cast<size_t>(output)] = 0;
  }
  for (size_t i = 1; i < steps_.size(); ++i) {
    const NodeId first = steps_[i].node->inputs.front();
    steps_[i].mayOverwrite =
        uses[static_cast<size_t>(first)] == 1 && outputMayBeOverwritten(graph_->node(first).operation->name);
    if (lastUse[i] != 0) steps_[lastUse[i]].lastUseOf.push_back(static_cast<NodeId>(i));
  }
}

at::Tensor AutogradExecutor::run(const Step& step, std::vector<at::Tensor>& values) {
  OperationArguments arguments{step.node->attributes, {},        step.weight,       step.bias,   step.runningMean,
                               step.runningVar,       training_, step.mayOverwrite, &generator_, options_.statistics};
  for (const NodeId input : step.node->inputs) arguments.inputs.push_back(values[static_cast<size_t>(input)]);
  return step.call(arguments);
}

std::span<const at::Tensor> AutogradExecutor::forward(const Batch& batch) {
  const at::AutoGradMode mode(gradients_);
  std::vector<at::Tensor> values(steps_.size());
  values[0] = batch.images;
  for (size_t i = 1; i < steps_.size(); ++i) {
    if (!steps_[i].auxiliary || training_) values[i] = run(steps_[i], values);
    for (const NodeId dead : steps_[i].lastUseOf) values[static_cast<size_t>(dead)].reset();
  }
  outputs_ = {values[static_cast<size_t>(graph_->output())]};
  for (const Auxiliary& auxiliary : graph_->auxiliaries()) {
    if (training_) outputs_.push_back(values[static_cast<size_t>(auxiliary.value)]);
  }
  detached_.clear();
  for (at::Tensor& output : outputs_) {
    if (output.dim() != 2 && options_.flatOutputs) output = output.flatten(1);
    detached_.push_back(output.detach());
  }
  return detached_;
}

void AutogradExecutor::backward(std::span<const at::Tensor> outputGradients, const GradientReady& ready) {
  check(!outputs_.empty() && outputs_[0].requires_grad(), "backward without a forward that kept gradients");
  check(outputGradients.size() == outputs_.size(), "one gradient for each output");
  ready_ = &ready;
  if (!training_) {
    for (const Leaf& leaf : auxiliaryLeaves_) {
      leaf.gradient.zero_();
      ready({&leaf.slice, 1});
    }
  }
  torch::autograd::backward(std::exchange(outputs_, {}), {outputGradients.begin(), outputGradients.end()});
}

std::vector<std::pair<std::string, at::Tensor>> AutogradExecutor::statistics() const {
  std::vector<std::pair<std::string, at::Tensor>> all;
  for (const Step& step : steps_) {
    if (!step.runningMean.defined()) continue;
    all.emplace_back(step.node->name + ".running_mean", step.runningMean);
    all.emplace_back(step.node->name + ".running_var", step.runningVar);
  }
  return all;
}

}  // namespace

std::unique_ptr<Executor> makeAutogradExecutor(const ExecutorOptions& options) {
  return std::make_unique<AutogradExecutor>(options);
}

}  // namespace tandem

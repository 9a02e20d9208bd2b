#include "executor/planned_operation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "executor/aten_ops.h"
#include "executor/executor.h"
#include "executor/planned_convolution.h"
#include "executor/planned_gate.h"
#include "executor/planned_linear.h"
#include "executor/planned_transformer.h"
#include "graph/operation.h"
#include "kernels/norm/aten_activation.h"
#include "kernels/norm/norm_act.h"
#include "kernels/pool/max_pool.h"
#include "kernels/transformer/gelu.h"

namespace tandem {
namespace {

/// Base of all operations: the binding, and the ATen call of the node.
class Bound : public PlannedOperation {
 protected:
  explicit Bound(const PlannedBinding& binding) : b_(binding), call_(atenOp(binding.node->operation->name)) {}
  const Attributes& attributes() const { return b_.node->attributes; }
  at::Tensor call(std::span<const at::Tensor> inputs, PassMode mode) const {
    return call(inputs, mode, b_.weight, b_.bias);
  }
  at::Tensor call(std::span<const at::Tensor> inputs, PassMode mode, const at::Tensor& weight,
                  const at::Tensor& bias) const {
    OperationArguments arguments{attributes(),   {inputs.begin(), inputs.end()},
                                 weight,         bias,
                                 b_.runningMean, b_.runningVar,
                                 mode.training,  b_.mayOverwrite,
                                 b_.generator};
    return call_(arguments);
  }

  PlannedBinding b_;

 private:
  AtenOp call_;
};

class BatchNorm final : public Bound {
 public:
  explicit BatchNorm(const PlannedBinding& binding)
      : Bound(binding),
        parameters_{binding.weight.defined() ? binding.weight : at::ones_like(binding.bias),
                    binding.bias,
                    binding.runningMean,
                    binding.runningVar,
                    binding.weightGradient,
                    binding.biasGradient},
        options_{attributes().epsilon, attributes().momentum, binding.plan->activation, true, binding.statistics},
        engines_(binding.norms) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    options_.training = mode.training;
    const at::Tensor x = dense(inputs[0]), residual = inputs.size() > 1 ? inputs[1] : at::Tensor();
    const bool known = mode.again || takesSums(x);
    const bool byEngines = !known && mode.gradients && engines_.serves(x, residual, parameters_, options_);
    at::Tensor output = byEngines ? engines_.forward(x, residual, parameters_, options_, saved_)
                        : known   ? normActAgain(x, residual, options_, saved_)
                                  : normAct(x, residual, parameters_, options_, saved_);
    if (!mode.gradients) forgetActivations();
    return output;
  }

  void keep(std::span<const at::Tensor> inputs, const at::Tensor& output) override {
    normActKeep(dense(inputs[0]), output, b_.plan->hasResidual(), options_, saved_);
  }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    const bool hasResidual = b_.plan->hasResidual();
    NormActGradients gradients = saved_.mask.defined()
                                     ? engines_.backward(std::move(outputGradients), saved_, hasResidual, options_)
                                     : normActBackward(std::move(outputGradients), saved_, hasResidual, options_);
    forgetActivations();
    if (b_.weight.defined()) place(gradients.scale, b_.weightGradient);
    place(gradients.shift, b_.biasGradient);
    std::vector<at::Tensor> inputs{std::move(gradients.x)};
    if (hasResidual) inputs.push_back(std::move(gradients.residual));
    return inputs;
  }

 private:
  static void place(const at::Tensor& gradient, const at::Tensor& there) {
    if (!gradient.is_same(there)) there.copy_(gradient);  // else a kernel wrote it there
  }
  // Takes the statistics that the convolution accumulated, if there are any.
  bool takesSums(const at::Tensor& x) {
    if (!b_.sums || !b_.sums->defined()) return false;
    normActStatistics(x, std::exchange(*b_.sums, {}), parameters_, options_, saved_);
    return true;
  }
  // In the layout that the kernels read; keptForBackward() knows which of them run.
  at::Tensor dense(const at::Tensor& x) const { return x.dim() == 4 ? x.contiguous(b_.format) : x; }
  // The statistics stay, because forward may be repeated.
  void forgetActivations() {
    saved_.x.reset();
    saved_.y.reset();
    saved_.reluMask.reset();
    saved_.mask.reset();
  }

  NormParameters parameters_;
  NormActOptions options_;
  CudnnBatchNorm engines_;
  NormActSaved saved_;
};

/// Of an activation that batch-norm takes too.
template <Activation activation>
at::Tensor gradientOf(const at::Tensor& dy, const at::Tensor& value) {
  return activationGradient(dy, value, activation);
}
at::Tensor sigmoidGradient(const at::Tensor& dy, const at::Tensor& y) { return at::sigmoid_backward(dy, y); }
at::Tensor tanhGradient(const at::Tensor& dy, const at::Tensor& y) { return at::tanh_backward(dy, y); }
at::Tensor geluTanhGradient(const at::Tensor& dy, const at::Tensor& x) { return at::gelu_backward(dy, x, "tanh"); }

/// An element-wise function whose derivative follows from one tensor: its output or its input. `kernel` computes it;
/// null: the ATen call.
template <auto gradientOf, bool readsOutput, at::Tensor (*kernel)(const at::Tensor&) = nullptr>
class Activated final : public Bound {
 public:
  explicit Activated(const PlannedBinding& binding) : Bound(binding) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    at::Tensor output = kernel != nullptr ? kernel(inputs[0]) : call(inputs, mode);
    if (mode.gradients) keep(inputs, output);
    return output;
  }

  void keep(std::span<const at::Tensor> inputs, const at::Tensor& output) override {
    kept_ = readsOutput ? output : inputs[0];
  }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    at::Tensor gradient = gradientOf(addGradients(std::move(outputGradients)), kept_);
    kept_.reset();
    return {std::move(gradient)};
  }

 private:
  at::Tensor kept_;
};

class Concat final : public Bound {
 public:
  explicit Concat(const PlannedBinding& binding) : Bound(binding) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    channels_.clear();
    for (const at::Tensor& input : inputs) channels_.push_back(input.size(1));
    return call(inputs, mode);
  }

  void keep(std::span<const at::Tensor>, const at::Tensor&) override {}

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    std::vector<at::Tensor> parts = addGradients(std::move(outputGradients)).split_with_sizes(channels_, 1);
    // Views of the joined gradient have its strides; the kernels behind read dense tensors.
    for (at::Tensor& part : parts) part = part.contiguous(b_.format);
    return parts;
  }

 private:
  std::vector<int64_t> channels_;
};

class Add final : public Bound {
 public:
  explicit Add(const PlannedBinding& binding) : Bound(binding) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override { return call(inputs, mode); }

  void keep(std::span<const at::Tensor>, const at::Tensor&) override {}

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    return std::vector<at::Tensor>(b_.plan->inputs.size(), addGradients(std::move(outputGradients)));
  }
};

class MaxPool final : public Bound {
 public:
  explicit MaxPool(const PlannedBinding& binding) : Bound(binding), window_(poolWindow(attributes())) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    saved_ = {};
    return maxPool(inputs[0], window_, mode.gradients ? &saved_ : nullptr);
  }

  void keep(std::span<const at::Tensor>, const at::Tensor&) override {
    check(false, "only forward knows where the maxima are");
  }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    return {maxPoolBackward(addGradients(std::move(outputGradients)), window_, std::exchange(saved_, {}))};
  }

 private:
  const PoolWindow window_;
  MaxPoolSaved saved_;
};

bool maxPoolHasKernel(const Node& node, const ExecutorOptions& options) {
  return hasMaxPoolKernel(options.device, options.compute, options.kernels.layout.format, poolWindow(node.attributes));
}

/// Any operation, by libtorch's autograd of its ATen call.
class ByAutograd final : public Bound {
 public:
  explicit ByAutograd(const PlannedBinding& binding) : Bound(binding) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    leaves_.clear();
    output_.reset();
    if (!drawsNumbers(b_.node->operation->name)) return made(inputs, mode);
    // A repetition draws the same numbers again, and leaves the generator as if it had drawn none.
    if (!mode.again) {
      numbers_ = b_.generator->get_state();
      return made(inputs, mode);
    }
    const at::Tensor next = b_.generator->get_state();
    b_.generator->set_state(numbers_);
    at::Tensor output = made(inputs, mode);
    b_.generator->set_state(next);
    return output;
  }

  void keep(std::span<const at::Tensor>, const at::Tensor&) override {
    check(false, "only forward makes what autograd reads");
  }
  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    std::vector<at::Tensor> gradients(leaves_.size() + 2), wanted;
    const auto isWanted = [](const at::Tensor& leaf) { return leaf.defined() && leaf.requires_grad(); };
    leaves_.insert(leaves_.end(), {weight_, bias_});
    std::ranges::copy_if(leaves_, std::back_inserter(wanted), isWanted);
    auto results = torch::autograd::grad({std::move(output_)}, wanted, {addGradients(std::move(outputGradients))});
    for (size_t i = 0, next = 0; i < leaves_.size(); ++i) {
      if (isWanted(leaves_[i])) gradients[i] = std::move(results[next++]);
    }
    if (b_.bias.defined()) b_.biasGradient.copy_(gradients.back());
    gradients.pop_back();
    if (b_.weight.defined()) b_.weightGradient.copy_(gradients.back());
    gradients.pop_back();
    output_.reset();
    leaves_.clear();
    return gradients;
  }

 private:
  at::Tensor made(std::span<const at::Tensor> inputs, PassMode mode) {
    if (!mode.gradients) return call(inputs, mode);
    const at::AutoGradMode enabled(true);
    for (size_t i = 0; i < inputs.size(); ++i) {
      leaves_.push_back(inputs[i].detach().requires_grad_(b_.wantsGradient[i]));
    }
    if (b_.weight.defined()) weight_ = b_.weight.detach().requires_grad_();
    if (b_.bias.defined()) bias_ = b_.bias.detach().requires_grad_();
    output_ = call(leaves_, mode, weight_, bias_);
    return output_.detach();
  }

  std::vector<at::Tensor> leaves_;  // the inputs
  at::Tensor weight_, bias_;        // leaves too
  at::Tensor output_;               // with its history
  at::Tensor numbers_;              // state of the generator before the last forward, if that draws
};

template <class Operation>
std::unique_ptr<PlannedOperation> make(const PlannedBinding& binding) {
  return std::make_unique<Operation>(binding);
}

struct Row {
  std::string_view operation;
  std::unique_ptr<PlannedOperation> (*make)(const PlannedBinding&);
  KeptForBackward kept;
  bool gradientInPlace = false;
  /// Whether a kernel serves the node, which keeps `keptByKernel` instead. Null: none does.
  bool (*hasKernel)(const Node& node, const ExecutorOptions& options) = nullptr;
  KeptForBackward keptByKernel = {};
};

constexpr std::array rows{
    Row{"conv", makePlannedConvolution, {.input = true}},
    Row{"linear", makePlannedLinear, {.input = true}, true},
    Row{"channel_linear", makePlannedChannelLinear, {.input = true}, true},
    Row{"batch_norm", make<BatchNorm>, {.input = true}},
    Row{"layer_norm", makePlannedLayerNorm, {.input = true}},
    Row{"layer_scale", makePlannedLayerScale, {.input = true}},
    Row{"relu", make<Activated<gradientOf<Activation::relu>, true>>, {.output = true}},
    Row{"relu6", make<Activated<gradientOf<Activation::relu6>, true>>, {.output = true}},
    Row{"sigmoid", make<Activated<sigmoidGradient, true>>, {.output = true}},
    Row{"tanh", make<Activated<tanhGradient, true>>, {.output = true}},
    Row{"silu", make<Activated<gradientOf<Activation::silu>, false>>, {.input = true}},
    Row{"gelu", make<Activated<geluBackward, false, geluForward>>, {.input = true}},
    Row{"gelu_tanh", make<Activated<geluTanhGradient, false>>, {.input = true}},
    Row{"add", make<Add>, {}},
    Row{"concat", make<Concat>, {}},
    Row{"multiply", makePlannedMultiply, {.input = true, .otherInputs = true}},
    Row{"global_avg_pool", makePlannedGlobalAveragePool, {}},
    Row{.operation = "max_pool",
        .make = make<MaxPool>,
        .kept = {.input = true, .bytesPerValue = sizeof(int64_t)},
        .hasKernel = maxPoolHasKernel,
        .keptByKernel = {.bytesPerValue = sizeof(uint8_t)}},
};

const Row* rowOf(std::string_view operation) {
  const auto* const row = std::ranges::find(rows, operation, &Row::operation);
  return row == rows.end() ? nullptr : row;
}

}  // namespace

std::unique_ptr<PlannedOperation> makePlannedOperation(const PlannedBinding& binding) {
  if (const Row* const row = rowOf(binding.node->operation->name)) return row->make(binding);
  return make<ByAutograd>(binding);
}

bool hasPlannedBackward(std::string_view operation) { return rowOf(operation) != nullptr; }

bool writesGradientInPlace(std::string_view operation) {
  const Row* const row = rowOf(operation);
  return row != nullptr && row->gradientInPlace;
}

KeptForBackward keptForBackward(const Graph& graph, const PlannedNode& call, const ExecutorOptions& options) {
  const Node& node = graph.node(call.node);
  const Row* const row = rowOf(node.operation->name);
  if (row == nullptr) {
    const bool draws = drawsNumbers(node.operation->name);
    return {.input = true, .bytesPerValue = draws ? static_cast<int64_t>(c10::elementSize(options.compute)) : 0};
  }
  KeptForBackward kept = row->hasKernel && row->hasKernel(node, options) ? row->keptByKernel : row->kept;
  // With a residual, or without a kernel, the ReLU's mask cannot be recomputed from the input. (A forward on a GPU
  // keeps bits instead, but keep() has the output alone.) A batch_norm of vectors may run either way.
  const bool byKernel = hasNormActKernel(options.device, options.compute, options.kernels.layout.format,
                                         /*joins=*/options.statistics != nullptr);
  const bool readsMask = call.hasResidual() || !byKernel || node.shape.height * node.shape.width == 1;
  kept.output = kept.output || (call.activation == Activation::relu && readsMask);
  return kept;
}

}  // namespace tandem

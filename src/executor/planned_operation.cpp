#include "executor/planned_operation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "executor/executor.h"
#include "executor/operation_call.h"
#include "graph/operation.h"
#include "kernels/convolution.h"
#include "kernels/norm_act.h"

namespace tandem {
namespace {

/// What every operation has: its binding, and the ATen call of its node.
class Bound : public PlannedOperation {
 protected:
  explicit Bound(const PlannedBinding& binding) : b_(binding) {}
  const Attributes& attributes() const { return b_.node->attributes; }
  at::Tensor call(std::span<const at::Tensor> inputs, PassMode mode) const {
    OperationArguments arguments{attributes(),   {inputs.begin(), inputs.end()},
                                 b_.weight,      b_.bias,
                                 b_.runningMean, b_.runningVar,
                                 mode.training,  b_.mayOverwrite,
                                 b_.generator};
    return operationCall(b_.node->operation->name)(arguments);
  }

  PlannedBinding b_;
};

/// By a kernel that takes weights and activations in orders of its own.
class PackedConvolution final : public Bound {
 public:
  PackedConvolution(const PlannedBinding& binding, std::unique_ptr<Convolution> kernel)
      : Bound(binding), kernel_(std::move(kernel)) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    const at::Tensor input = inputs[0].contiguous(at::MemoryFormat::ChannelsLast);
    if (!mode.again) kernel_->weightsChanged();
    at::Tensor output = kernel_->forward(input);
    if (mode.gradients) keep({&input, 1}, output);
    return output;
  }

  void keep(std::span<const at::Tensor> inputs, const at::Tensor&) override {
    input_ = inputs[0].contiguous(at::MemoryFormat::ChannelsLast);
  }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    const at::Tensor gradient = addGradients(std::move(outputGradients)).contiguous(at::MemoryFormat::ChannelsLast);
    kernel_->backwardParameters(input_, gradient);
    const at::Tensor input = std::exchange(input_, {});
    return {b_.wantsGradient[0] ? kernel_->backwardInput(input, gradient) : at::Tensor()};
  }

 private:
  std::unique_ptr<Convolution> kernel_;
  at::Tensor input_;
};

/// By ATen.
class AtenConvolution final : public Bound {
 public:
  explicit AtenConvolution(const PlannedBinding& binding) : Bound(binding) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    const at::Tensor input = padded(inputs[0]);
    at::Tensor output = at::conv2d(input, b_.weight, b_.bias, strides(), padding(), {1, 1}, attributes().groups);
    if (mode.gradients) input_ = input;
    return output;
  }

  void keep(std::span<const at::Tensor> inputs, const at::Tensor&) override { input_ = padded(inputs[0]); }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    const at::Tensor gradient = addGradients(std::move(outputGradients));
    const bool hasBias = b_.bias.defined();
    const std::array<int64_t, 1> biasSizes{gradient.size(1)};
    auto [input, weight, bias] = at::convolution_backward(
        gradient, input_, b_.weight, hasBias ? at::OptionalIntArrayRef(biasSizes) : std::nullopt, strides(), padding(),
        {1, 1}, /*transposed=*/false, {0, 0}, attributes().groups, {b_.wantsGradient[0], true, hasBias});
    input_.reset();
    b_.weightGradient.copy_(weight);
    if (hasBias) b_.biasGradient.copy_(bias);
    return {unpadded(input)};
  }

 private:
  std::array<int64_t, 2> strides() const { return {attributes().strideH, attributes().strideW}; }
  std::array<int64_t, 2> padding() const {
    const Padding& p = attributes().padding;
    return p.symmetric() ? std::array{p.top, p.left} : std::array<int64_t, 2>{0, 0};
  }
  at::Tensor padded(const at::Tensor& input) const {
    const Padding& p = attributes().padding;
    return p.symmetric() ? input : at::constant_pad_nd(input, {p.left, p.right, p.top, p.bottom}, 0);
  }
  at::Tensor unpadded(const at::Tensor& gradient) const {
    const Padding& p = attributes().padding;
    if (p.symmetric() || !gradient.defined()) return gradient;
    return gradient.slice(2, p.top, gradient.size(2) - p.bottom).slice(3, p.left, gradient.size(3) - p.right);
  }

  at::Tensor input_;  // padded
};

class Linear final : public Bound {
 public:
  explicit Linear(const PlannedBinding& binding) : Bound(binding) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    at::Tensor output = at::linear(rows(inputs[0]), b_.weight, b_.bias);
    if (mode.gradients) keep(inputs, output);
    return output;
  }

  void keep(std::span<const at::Tensor> inputs, const at::Tensor&) override {
    shape_ = inputs[0].sizes().vec();
    input_ = rows(inputs[0]);
  }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    const at::Tensor gradient = addGradients(std::move(outputGradients));
    at::mm_out(b_.weightGradient, gradient.t(), input_);
    if (b_.bias.defined()) at::sum_out(b_.biasGradient, gradient, at::IntArrayRef{0});
    input_.reset();
    if (!b_.wantsGradient[0]) return {at::Tensor()};
    return {at::mm(gradient, b_.weight).view(shape_)};
  }

 private:
  static at::Tensor rows(const at::Tensor& input) { return input.dim() == 2 ? input : input.flatten(1); }

  at::Tensor input_;
  std::vector<int64_t> shape_;
};

class BatchNorm final : public Bound {
 public:
  explicit BatchNorm(const PlannedBinding& binding)
      : Bound(binding),
        parameters_{binding.weight, binding.bias, binding.runningMean, binding.runningVar},
        options_{attributes().epsilon, attributes().momentum, binding.plan->relu, true} {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    options_.training = mode.training;
    const at::Tensor x = dense(inputs[0]), residual = inputs.size() > 1 ? inputs[1] : at::Tensor();
    at::Tensor output =
        mode.again ? normActAgain(x, residual, options_, saved_) : normAct(x, residual, parameters_, options_, saved_);
    if (!mode.gradients) forgetActivations();
    return output;
  }

  void keep(std::span<const at::Tensor> inputs, const at::Tensor& output) override {
    normActKeep(dense(inputs[0]), output, b_.plan->hasResidual(), options_, saved_);
  }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    const bool hasResidual = b_.plan->hasResidual();
    NormActGradients gradients = normActBackward(std::move(outputGradients), saved_, hasResidual, options_);
    forgetActivations();
    b_.weightGradient.copy_(gradients.scale);
    b_.biasGradient.copy_(gradients.shift);
    std::vector<at::Tensor> inputs{std::move(gradients.x)};
    if (hasResidual) inputs.push_back(std::move(gradients.residual));
    return inputs;
  }

 private:
  // As kernels ask for it: keptForBackward() knows which of them run.
  at::Tensor dense(const at::Tensor& x) const { return x.dim() == 4 ? x.contiguous(b_.format) : x; }
  // The statistics stay: a forward may be repeated.
  void forgetActivations() {
    saved_.x.reset();
    saved_.y.reset();
  }

  NormParameters parameters_;
  NormActOptions options_;
  NormActSaved saved_;
};

class Relu final : public Bound {
 public:
  explicit Relu(const PlannedBinding& binding) : Bound(binding) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    at::Tensor output = call(inputs, mode);
    if (mode.gradients) keep(inputs, output);
    return output;
  }

  void keep(std::span<const at::Tensor>, const at::Tensor& output) override { output_ = output; }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    at::Tensor gradient = at::threshold_backward(addGradients(std::move(outputGradients)), output_, 0);
    output_.reset();
    return {std::move(gradient)};
  }

 private:
  at::Tensor output_;
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

/// Any operation without parameters, by libtorch's autograd of its ATen call.
class ByAutograd final : public Bound {
 public:
  explicit ByAutograd(const PlannedBinding& binding) : Bound(binding) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    leaves_.clear();
    output_.reset();
    if (!drawsNumbers(b_.node->operation->name)) return made(inputs, mode);
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
    std::vector<at::Tensor> inputs(leaves_.size()), wanted;
    for (const at::Tensor& leaf : leaves_) {
      if (leaf.requires_grad()) wanted.push_back(leaf);
    }
    auto results = torch::autograd::grad({std::move(output_)}, wanted, {addGradients(std::move(outputGradients))});
    for (size_t i = 0, next = 0; i < leaves_.size(); ++i) {
      if (leaves_[i].requires_grad()) inputs[i] = std::move(results[next++]);
    }
    output_.reset();
    leaves_.clear();
    return inputs;
  }

 private:
  at::Tensor made(std::span<const at::Tensor> inputs, PassMode mode) {
    if (!mode.gradients) return call(inputs, mode);
    const at::AutoGradMode enabled(true);
    for (size_t i = 0; i < inputs.size(); ++i) {
      leaves_.push_back(inputs[i].detach().requires_grad_(b_.wantsGradient[i]));
    }
    output_ = call(leaves_, mode);
    return output_.detach();
  }

  std::vector<at::Tensor> leaves_;
  at::Tensor output_;   // with its history
  at::Tensor numbers_;  // state of the generator before the last forward, where that draws
};

std::unique_ptr<PlannedOperation> makePlannedConvolution(const PlannedBinding& binding) {
  const Attributes& a = binding.node->attributes;
  const ConvolutionGeometry geometry{a.strideH,      a.strideW,       a.padding.top, a.padding.bottom,
                                     a.padding.left, a.padding.right, a.groups,      binding.blockedOutput};
  std::unique_ptr<Convolution> kernel;
  if (binding.format == at::MemoryFormat::ChannelsLast) {
    kernel = makeConvolution(geometry, {binding.weight, binding.bias, binding.weightGradient, binding.biasGradient},
                             binding.algorithms);
  }
  if (kernel) return std::make_unique<PackedConvolution>(binding, std::move(kernel));
  check(!binding.blockedOutput, "blocked activations have a kernel");
  return std::make_unique<AtenConvolution>(binding);
}

template <class Operation>
std::unique_ptr<PlannedOperation> make(const PlannedBinding& binding) {
  return std::make_unique<Operation>(binding);
}

struct Row {
  std::string_view operation;
  std::unique_ptr<PlannedOperation> (*make)(const PlannedBinding&);
  KeptForBackward kept;
};

constexpr std::array rows{
    Row{"conv", makePlannedConvolution, {.input = true}},
    Row{"linear", make<Linear>, {.input = true}},
    Row{"batch_norm", make<BatchNorm>, {.input = true}},
    Row{"relu", make<Relu>, {.output = true}},
    Row{"add", make<Add>, {}},
};

const Row* rowOf(std::string_view operation) {
  const auto* const row = std::ranges::find(rows, operation, &Row::operation);
  return row == rows.end() ? nullptr : row;
}

}  // namespace

std::unique_ptr<PlannedOperation> makePlannedOperation(const PlannedBinding& binding) {
  if (const Row* const row = rowOf(binding.node->operation->name)) return row->make(binding);
  check(!binding.weight.defined() && !binding.bias.defined(), "an operation with parameters has a planned backward");
  return make<ByAutograd>(binding);
}

bool hasPlannedBackward(std::string_view operation) { return rowOf(operation) != nullptr; }

KeptForBackward keptForBackward(const Graph& graph, const PlannedNode& call, const ExecutorOptions& options) {
  const Node& node = graph.node(call.node);
  const Row* const row = rowOf(node.operation->name);
  if (row == nullptr) return {.input = true};
  // With a residual, and where no kernel does it, the ReLU's mask cannot be recomputed from the input. A batch_norm of
  // vectors may have either form.
  const bool byKernel = hasNormActKernel(options.device, options.compute, options.layout.format);
  const bool readsMask = call.hasResidual() || !byKernel || node.shape.height * node.shape.width == 1;
  return {row->kept.input, row->kept.output || (call.relu && readsMask)};
}

}  // namespace tandem

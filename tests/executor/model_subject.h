#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "golden/formula_tensor.h"
#include "golden/golden_file.h"
#include "graph/operation.h"
#include "kernels/loss/losses.h"
#include "models/model.h"
#include "support/typical_networks.h"

namespace tandem {

/// What references are computed in, by the autograd executor on the CPU: all of it is fp64 then.
constexpr Precision doublePrecision{"fp64", "the reference", at::kDouble, at::kDouble, at::kDouble, false};

inline FlatBuffers buffersFor(const Graph& graph, const Precision& precision, const ExecutorOptions& options) {
  return {parameterSpecs(graph, options), precision, options.device, options.kernels.layout.format};
}

/// Has an output per class; the others have tests of their own.
inline bool classifies(const ModelEntry& entry) { return !buildModel(entry.name, {}).loss().head.empty(); }

/// Runs in every way in ordinary tests. The others do in long tests only: large ones, where many gigabytes or
/// operations would pass, and those that a typical network stands for.
inline bool isQuick(const ModelEntry& entry) {
  return isTypical(entry) && entry.parameters <= mostQuickParameters && entry.forwardFlops <= 10e9;
}

/// Of the quick ones, those whose more costly ways run in long tests only.
inline bool hasManyParameters(const std::string& model) {
  return find(models(), model, "model").parameters > 4'500'000;
}

/// The zoo's networks that classify.
inline std::vector<std::string> classifiers(bool quick) {
  std::vector<std::string> names;
  for (const ModelEntry& entry : models()) {
    if (isQuick(entry) == quick && classifies(entry)) names.emplace_back(entry.name);
  }
  return names;
}

/// Of the quick ones.
inline std::vector<std::string> classifiersOfManyParameters() {
  std::vector<std::string> names = classifiers(/*quick=*/true);
  std::erase_if(names, [](const std::string& name) { return !hasManyParameters(name); });
  return names;
}

/// The formula's values of each parameter of a graph, in its order. Those of large networks take long.
inline std::vector<at::Tensor> formulaWeights(const Graph& graph) {
  std::vector<at::Tensor> weights;
  for (const Parameter& parameter : graph.parameters()) {
    const bool isBatchNorm = graph.node(parameter.node).operation->name == "batch_norm";
    weights.push_back(formulaTensor(parameter.name, parameter.shape, isBatchNorm));
  }
  return weights;
}

/// One model on one executor, on one device in one precision and layout, with the formula's weights and images.
class ModelSubject {
 public:
  ModelSubject(const Graph& graph, const Precision& precision, const ExecutorEntry& executor, const LayoutEntry& layout)
      : ModelSubject(graph, precision, executor,
                     ExecutorOptions{.compute = precision.compute, .kernels = {.layout = layout}}) {}

  ModelSubject(const Graph& graph, const Precision& precision, const ExecutorEntry& executor,
               const ExecutorOptions& options)
      : ModelSubject(graph, precision, executor, options, formulaWeights(graph)) {}

  /// `weights`: formulaWeights(graph). REQUIRES: options.compute is the precision's.
  ModelSubject(const Graph& graph, const Precision& precision, const ExecutorEntry& executor,
               const ExecutorOptions& options, const std::vector<at::Tensor>& weights)
      : options_(options), buffers_(buffersFor(graph, precision, options)), executor_(executor.make(options)) {
    const std::vector<Parameter> parameters = graph.parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      at::Tensor master = buffers_.masterView(buffers_.indexOf(parameters[i].name));
      master.copy_(weights.at(i).view(master.sizes()));
    }
    for (const Auxiliary& auxiliary : graph.auxiliaries()) lossWeights_.push_back(auxiliary.lossWeight);
    buffers_.refreshWeights();
    executor_->bind(graph, buffers_);
    resetStatistics();
  }

  void resetStatistics() {
    for (auto& [name, tensor] : executor_->statistics()) tensor.copy_(formulaTensor(name, tensor.sizes().vec()));
  }

  Batch batch(const std::string& name, const std::vector<int64_t>& shape, int64_t classes) const {
    std::vector<int64_t> labels;
    for (int64_t row = 0; row < shape[0]; ++row) labels.push_back(golden::label(row, classes));
    Batch batch;
    batch.images =
        formulaTensor(name, shape).to(options_.device, options_.compute).contiguous(options_.kernels.layout.format);
    batch.labels = at::tensor(labels, at::kLong).to(options_.device);
    return batch;
  }

  /// Forward, mean softmax cross-entropy of all outputs, backward. Returns the loss.
  double pass(const Batch& batch, const GradientReady& ready) {
    const auto outputs = executor_->forward(batch);
    logits_ = outputs[0];
    const auto lossOf = options_.compute == at::kDouble ? softmaxCrossEntropyReference : softmaxCrossEntropy;
    double sum = 0;
    std::vector<at::Tensor> gradients;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const LossAndGradient loss = lossOf(outputs[i], batch.labels, 0, logits_.size(0), {});
      sum += lossWeights_[i] * loss.loss.item<double>();
      gradients.push_back(loss.gradient * lossWeights_[i]);
    }
    executor_->backward(gradients, ready);
    return sum;
  }

  /// Plain gradient descent, of fp64 weights in fp64.
  void descend(double rate) {
    const bool isExact = options_.compute == at::kDouble;
    for (int segment = 0; segment < buffers_.segments(); ++segment) {
      const Slice all = buffers_.whole(segment);
      (isExact ? buffers_.weights(all) : buffers_.master(all)).sub_(buffers_.gradient(all), rate);
    }
    if (!isExact) buffers_.refreshWeights();
  }

  /// [N, classes], of the last pass.
  const at::Tensor& logits() const { return logits_; }
  at::Tensor gradient(int parameter) const {
    return buffers_.gradientView(parameter).reshape(buffers_.spec(parameter).shape);
  }
  Executor& executor() { return *executor_; }
  const FlatBuffers& buffers() const { return buffers_; }

 private:
  ExecutorOptions options_;
  FlatBuffers buffers_;
  std::unique_ptr<Executor> executor_;
  std::vector<double> lossWeights_{1};  // by output
  at::Tensor logits_;
};

}  // namespace tandem

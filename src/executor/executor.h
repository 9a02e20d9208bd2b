#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "device/batch.h"
#include "device/flat_buffers.h"
#include "executor/compile/checkpointing.h"
#include "executor/select/kernel_selection.h"
#include "graph/graph.h"
#include "kernels/cudnn/conv.h"
#include "kernels/norm/statistics_exchange.h"

namespace tandem {

struct ExecutorOptions {
  at::ScalarType compute = at::kFloat;
  KernelSelection kernels = {};  ///< autograd reads the layout only
  at::Device device = at::kCPU;
  uint64_t dropoutSeed = 0;  ///< of this replica
  /// In training, batch-norm normalises the batches of all replicas as one. Null: each replica's own. It outlives the
  /// executor.
  StatisticsExchange* statistics = nullptr;
  RecomputeEntry recompute = recomputes().front();
  ConvPlansOf plansOf = cudnnConvPlans;  ///< the source of convolutions' execution plans
  /// False: outputs and their gradients keep the shape and layout that they have in the graph. Rows of values would be
  /// a copy where a network ends in an image (trials of parts of a network).
  bool flatOutputs = true;
};

/// The graph's parameters in the order in which backward finishes their gradients, which is the order of FlatBuffers.
/// With blocked fp32 activations, weights of convolutions between them are blocked too.
std::vector<ParameterSpec> parameterSpecs(const Graph& graph, const ExecutorOptions& options = {});

/// Runs one replica's graph. All methods run on the replica's thread.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Makes parameters and gradients views of the buffers' slices. `graph` and `buffers` must outlive this object.
  virtual void bind(const Graph& graph, FlatBuffers& buffers) = 0;

  /// Selects training (batch statistics, dropout) or evaluation (running statistics, no dropout). Initially training.
  virtual void setTraining(bool training) = 0;

  /// Whether forward keeps what backward needs; initially true. Independent of setTraining(): gradients through running
  /// statistics exist.
  virtual void setGradients(bool keep) = 0;

  /// The outputs of the graph, valid until the next call: [N, classes] each, for a detector [N, all values of an
  /// image] (ExecutorOptions::flatOutputs). In training the auxiliary values follow, in the graph's order. They are
  /// detached leaves; their gradients are the arguments of backward().
  virtual std::span<const at::Tensor> forward(const Batch& batch) = 0;

  /// Writes every gradient slice and reports each once. In evaluation, gradients that only auxiliary values need are 0.
  /// REQUIRES: forward() was called just before and kept gradients; one gradient per output.
  virtual void backward(std::span<const at::Tensor> outputGradients, const GradientReady& ready) = 0;

  /// The generator that dropout draws from.
  virtual const at::Generator& generator() const = 0;

  /// Running statistics by name ("bn1.running_mean", "bn1.running_var"), fp32.
  virtual std::vector<std::pair<std::string, at::Tensor>> statistics() const = 0;
};

struct ExecutorEntry {
  std::string_view name, summary;
  std::unique_ptr<Executor> (*make)(const ExecutorOptions&);
  bool choosesKernels = false;  ///< on a CPU: whether it supports blocked activations, an algorithm per convolution
  bool planned = false;     ///< its calls are known before the first step: describePlan(), --recompute, --pad-images
  bool capturable = false;  ///< a step can be captured as a CUDA graph (device/captured_graph.h)
};

std::span<const ExecutorEntry> executors();

/// Whether convolutions with this layout and type can run by kernels that are selected (kernels/conv/convolution.h).
/// These need channels-last on a CPU, and a build with oneDNN. Otherwise ATen computes them.
bool canChooseKernels(const LayoutEntry& layout, at::Device device, at::ScalarType compute = at::kFloat);

/// The same, and the executor selects kernels.
bool choosesKernels(const ExecutorEntry& executor, const LayoutEntry& layout, at::Device device,
                    at::ScalarType compute = at::kFloat);

/// Whether the executor supports the layout. Blocked layouts need selectable kernels.
bool serves(const ExecutorEntry& executor, const LayoutEntry& layout, at::Device device,
            at::ScalarType compute = at::kFloat);

}  // namespace tandem

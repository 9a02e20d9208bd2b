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

namespace tandem {

struct ExecutorOptions {
  at::ScalarType compute = at::kFloat;
  KernelSelection kernels = {};  ///< autograd reads the layout alone
  at::Device device = at::kCPU;
  uint64_t dropoutSeed = 0;  ///< of this replica
  RecomputeEntry recompute = recomputes().front();
  ConvPlansOf plansOf = cudnnConvPlans;  ///< where execution plans of convolutions come from
};

/// The graph's parameters in the order in which their gradients become ready in backward: the order of FlatBuffers.
/// With blocked fp32 activations the weights of convolutions between them lie in blocks too.
std::vector<ParameterSpec> parameterSpecs(const Graph& graph, const ExecutorOptions& options = {});

/// Runs one replica's graph. All methods on the replica's thread.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Parameters and gradients become views of the buffers' slices. `graph` and `buffers` must outlive this.
  virtual void bind(const Graph& graph, FlatBuffers& buffers) = 0;

  /// Training (batch statistics, dropout) or evaluation (running statistics, no dropout). Training at first.
  virtual void setTraining(bool training) = 0;

  /// Keep what backward needs; on at first. Independent of setTraining(): gradients through running statistics exist.
  virtual void setGradients(bool keep) = 0;

  /// Outputs of the graph, [N, classes] each, of a detector [N, all values of an image], valid until the next call: the
  /// output, in training the auxiliary values too, in the graph's order. Detached leaves: their gradients are handed to
  /// backward().
  virtual std::span<const at::Tensor> forward(const Batch& batch) = 0;

  /// Fills every gradient slice and reports each once; in evaluation those that only auxiliary values need are 0.
  /// REQUIRES: forward() just before, gradients kept; one gradient for each output.
  virtual void backward(std::span<const at::Tensor> outputGradients, const GradientReady& ready) = 0;

  /// What dropout draws from.
  virtual const at::Generator& generator() const = 0;

  /// Running statistics by name ("bn1.running_mean", "bn1.running_var"), fp32.
  virtual std::vector<std::pair<std::string, at::Tensor>> statistics() const = 0;
};

struct ExecutorEntry {
  std::string_view name, summary;
  std::unique_ptr<Executor> (*make)(const ExecutorOptions&);
  bool choosesKernels = false;  ///< on a CPU: activations in blocks of channels, an algorithm for each convolution
  bool planned = false;     ///< its calls are known before the first step: describePlan(), --recompute, --pad-images
  bool capturable = false;  ///< a step can be captured as a CUDA graph (device/captured_graph.h)
};

std::span<const ExecutorEntry> executors();

/// Whether convolutions in this layout and type can run by kernels that are chosen (kernels/conv/convolution.h):
/// channels-last on a CPU, in a build with oneDNN. Else they are ATen's.
bool canChooseKernels(const LayoutEntry& layout, at::Device device, at::ScalarType compute = at::kFloat);

/// The same, and that the executor does choose.
bool choosesKernels(const ExecutorEntry& executor, const LayoutEntry& layout, at::Device device,
                    at::ScalarType compute = at::kFloat);

/// Blocks of channels need such kernels.
bool serves(const ExecutorEntry& executor, const LayoutEntry& layout, at::Device device,
            at::ScalarType compute = at::kFloat);

}  // namespace tandem

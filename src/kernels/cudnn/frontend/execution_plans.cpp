// cuDNN's graph API by its header-only frontend. libtorch_cuda contains another version of these headers and exports
// some of their templates. So this file is compiled with hidden symbols, and the linker cannot merge classes of both
// versions. (Standard containers of enumerators stay visible; they are equal in both.)
#include <ATen/cudnn/Handle.h>
#include <cudnn_frontend.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "kernels/cudnn/conv_problem.h"
#include "kernels/cudnn/norm_problem.h"
#include "kernels/cudnn/plan_counts.h"
#include "kernels/cudnn/shared_plans.h"

namespace tandem {
namespace {

namespace fe = cudnn_frontend;
using Dims = std::vector<int64_t>;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

/// A graph of operations with its plans: those of cuDNN's heuristics, then its fallbacks.
class CudnnPlans final : public ExecutionPlans {
 public:
  /// `tensors`: the number of tensors, with uids 1, 2, ... REQUIRES: create() is called next.
  CudnnPlans(std::unique_ptr<fe::graph::Graph> graph, int64_t tensors) : graph_(std::move(graph)), tensors_(tensors) {}

  /// Why no plan supports the graph; empty: some do.
  std::string create(const std::vector<fe::NumericalNote_t>& barred) {
    std::string refusal = list();
    if (!refusal.empty()) return refusal;
    graph_->deselect_numeric_notes(barred);
    for (int64_t plan = 0; plan < graph_->get_execution_plan_count(); ++plan) {
      std::string name;
      if (graph_->get_plan_name_at_index(plan, name).is_bad()) continue;
      if (std::ranges::find(names_, name) != names_.end()) continue;  // in several lists
      names_.push_back(std::move(name));
      plans_.push_back(plan);
    }
    prepared_.resize(plans_.size());
    return names_.empty() ? "it lists no plan" : "";
  }

  std::span<const std::string> names() const override { return names_; }

  /// Layers alike share this object, and building a plan may compile it: it is done once.
  std::optional<int64_t> prepare(size_t engine) override {
    if (!prepared_.at(engine)) prepared_[engine] = build(plans_.at(engine));
    return *prepared_[engine];
  }

  void run(size_t engine, std::span<void* const> tensors, void* workspace) override {
    check(static_cast<int64_t>(tensors.size()) == tensors_, "as many tensors as the graph has");
    std::unordered_map<int64_t, void*> memory;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i] != nullptr) memory.emplace(static_cast<int64_t>(i) + 1, tensors[i]);
    }
    // ATen's handle of this thread and GPU, which it sets to the current stream.
    auto status = graph_->execute_plan_at_index(at::native::getCudnnHandle(), memory, workspace, plans_.at(engine));
    if (status.is_bad())
      throw InternalError(concat(cudnnVersions(), ": ", names_.at(engine), ": ", status.get_message()));
  }

 private:
  /// Empty, or why cuDNN refuses the graph.
  std::string list() {
    constexpr std::array modes{fe::HeurMode_t::A, fe::HeurMode_t::B, fe::HeurMode_t::FALLBACK};
    std::string refusal;
    const auto done = [&refusal](fe::error_t status) {
      if (status.is_bad()) refusal = status.get_message();
      return status.is_good();
    };
    try {
      done(graph_->validate()) && done(graph_->build_operation_graph(at::native::getCudnnHandle())) &&
          done(graph_->create_execution_plans({modes.begin(), modes.end()}));
    } catch (const std::exception& failure) {  // thrown by the backend's builders
      refusal = failure.what();
    }
    return refusal;
  }

  std::optional<int64_t> build(int64_t plan) {
    int64_t bytes = 0;
    try {
      if (graph_->build_plan_at_index(plan).is_bad()) return std::nullopt;
      if (graph_->get_workspace_size_plan_at_index(plan, bytes).is_bad()) return std::nullopt;
    } catch (const std::exception&) {
      return std::nullopt;
    }
    return bytes;
  }

  std::unique_ptr<fe::graph::Graph> graph_;
  int64_t tensors_;
  std::vector<std::string> names_;
  std::vector<int64_t> plans_;
  std::vector<std::optional<std::optional<int64_t>>> prepared_;  // by engine: bytes of workspace, or it is none
};

fe::DataType_t typeOf(Element type) {
  constexpr std::array types{fe::DataType_t::FLOAT, fe::DataType_t::BFLOAT16, fe::DataType_t::HALF};
  return types.at(static_cast<size_t>(type));
}

std::vector<fe::NumericalNote_t> notesOf(const std::vector<NumericalNote>& notes) {
  constexpr std::array names{fe::NumericalNote_t::DOWN_CONVERT_INPUTS, fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION,
                             fe::NumericalNote_t::TENSOR_CORE};
  std::vector<fe::NumericalNote_t> found;
  for (const NumericalNote note : notes) found.push_back(names.at(static_cast<size_t>(note)));
  return found;
}

/// A tensor [N, C, H, W] or [out, in, kH, kW], dense in NHWC.
struct Dense {
  Dims dims;
  fe::DataType_t type;
  int64_t uid;

  void describe(fe::graph::Tensor_attributes& tensor) const {
    tensor.set_dim(dims)
        .set_stride({dims[1] * dims[2] * dims[3], 1, dims[1] * dims[3], dims[1]})
        .set_data_type(type)
        .set_uid(uid);
  }
  Tensor in(fe::graph::Graph& graph) const {
    fe::graph::Tensor_attributes tensor;
    describe(tensor);
    return graph.tensor(tensor);
  }
  void out(const Tensor& tensor) const {
    describe(*tensor);
    tensor->set_output(true);
  }
};

/// [channels] fp32.
Dense perChannel(int64_t channels, int64_t uid) { return {{1, channels, 1, 1}, fe::DataType_t::FLOAT, uid}; }

template <class ConvolutionAttributes>
ConvolutionAttributes attributesOf(const ConvolutionGeometry& g) {
  return ConvolutionAttributes().set_padding({g.top, g.left}).set_stride({g.strideH, g.strideW}).set_dilation({1, 1});
}

/// Returns the tensor that the convolution writes.
Tensor addConvolution(fe::graph::Graph& graph, const ConvolutionProblem& p) {
  using namespace fe::graph;
  const fe::DataType_t type = typeOf(p.type);
  const Dense x{{p.images, p.channels, p.height, p.width}, type, 1};
  const Dense weight{{p.outputs, p.channels / p.geometry.groups, p.kernelH, p.kernelW}, type, 2};
  const Dense y{{p.images, p.outputs, p.outputHeight(), p.outputWidth()}, type, 3};
  const auto written = [](const Dense& description, const Tensor& tensor) {
    description.out(tensor);
    return tensor;
  };
  if (p.pass == ConvolutionPass::forward) {
    return written(y, graph.conv_fprop(x.in(graph), weight.in(graph), attributesOf<Conv_fprop_attributes>(p.geometry)));
  }
  if (p.pass == ConvolutionPass::inputGradient) {
    return written(x, graph.conv_dgrad(y.in(graph), weight.in(graph), attributesOf<Conv_dgrad_attributes>(p.geometry)));
  }
  return written(weight, graph.conv_wgrad(y.in(graph), x.in(graph), attributesOf<Conv_wgrad_attributes>(p.geometry)));
}

Tensor pointwise(fe::graph::Graph& graph, fe::PointwiseMode_t mode, const Tensor& a, const Tensor& b = nullptr) {
  const auto attributes = fe::graph::Pointwise_attributes().set_mode(mode);
  return b ? graph.pointwise(a, b, attributes) : graph.pointwise(a, attributes);
}

Tensor constant(fe::graph::Graph& graph, double value) {
  return graph.tensor(fe::graph::Tensor_attributes(static_cast<float>(value)));
}

/// The channel sums as one operation. Behind a convolution cuDNN supports it in 16 bits: its pre-compiled engines in
/// fp16, its generic ones in bf16 too.
void addStatistics(fe::graph::Graph& graph, const Tensor& y, int64_t channels) {
  const auto sums = graph.genstats(y, fe::graph::Genstats_attributes());
  for (size_t i = 0; i < sums.size(); ++i) perChannel(channels, static_cast<int64_t>(i) + 4).out(sums[i]);
}

/// The channel sums as two reductions. By cuDNN's documents its generic engines end with one at the most.
void addReductions(fe::graph::Graph& graph, const Tensor& y, int64_t channels) {
  const auto add = fe::graph::Reduction_attributes().set_mode(fe::ReductionMode_t::ADD);
  perChannel(channels, 4).out(graph.reduction(y, add));
  perChannel(channels, 5).out(graph.reduction(pointwise(graph, fe::PointwiseMode_t::MUL, y, y), add));
}

/// The tensors of cudnnNormPlans() in their order.
class NormTensors {
 public:
  NormTensors(fe::graph::Graph& graph, const NormProblem& p)
      : graph_(graph), all_{p.images, p.channels, p.height, p.width}, channels_(p.channels), type_(typeOf(p.type)) {}

  Dense activation(int64_t uid) const { return {all_, type_, uid}; }
  Dense mask(int64_t uid) const { return {all_, fe::DataType_t::BOOLEAN, uid}; }
  Dense perChannel(int64_t uid) const { return tandem::perChannel(channels_, uid); }
  Tensor in(const Dense& tensor) const { return tensor.in(graph_); }

 private:
  fe::graph::Graph& graph_;
  Dims all_;
  int64_t channels_;
  fe::DataType_t type_;
};

void addNormForward(fe::graph::Graph& graph, const NormProblem& p) {
  const NormTensors t(graph, p);
  Tensor epsilon = constant(graph, p.epsilon), momentum = constant(graph, p.momentum);
  Tensor oldMean = t.in(t.perChannel(4)), oldVariance = t.in(t.perChannel(5));
  const auto attributes =
      fe::graph::Batchnorm_attributes().set_epsilon(epsilon).set_previous_running_stats(oldMean, oldVariance, momentum);
  const auto normal =  // y, mean, inverse deviation, the new running mean and variance
      graph.batchnorm(t.in(t.activation(1)), t.in(t.perChannel(2)), t.in(t.perChannel(3)), attributes);
  for (size_t i = 1; i < normal.size(); ++i) t.perChannel(static_cast<int64_t>(i) + 7).out(normal[i]);
  const Tensor sum =
      p.residual ? pointwise(graph, fe::PointwiseMode_t::ADD, normal[0], t.in(t.activation(6))) : normal[0];
  const Tensor y = pointwise(graph, fe::PointwiseMode_t::RELU_FWD, sum);
  t.activation(7).out(y);
  t.mask(12).out(pointwise(graph, fe::PointwiseMode_t::CMP_GT, y, constant(graph, 0)));
}

void addNormBackward(fe::graph::Graph& graph, const NormProblem& p) {
  const NormTensors t(graph, p);
  const Tensor masked = pointwise(graph, fe::PointwiseMode_t::MUL, t.in(t.activation(1)), t.in(t.mask(2)));
  masked->set_data_type(typeOf(p.type));
  if (p.residual) t.activation(10).out(masked);
  const auto attributes = fe::graph::Batchnorm_backward_attributes().set_saved_mean_and_inv_variance(
      t.in(t.perChannel(5)), t.in(t.perChannel(6)));
  const auto gradients = graph.batchnorm_backward(masked, t.in(t.activation(3)), t.in(t.perChannel(4)), attributes);
  t.activation(7).out(gradients[0]);
  t.perChannel(8).out(gradients[1]);
  t.perChannel(9).out(gradients[2]);
}

std::unique_ptr<fe::graph::Graph> emptyGraph(Element type) {
  auto graph = std::make_unique<fe::graph::Graph>();
  graph->set_io_data_type(typeOf(type))
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  return graph;
}

thread_local PlanCounts counts;

/// Null if no plan supports the graph. `kind`: of the operation, for planNotes().
std::unique_ptr<ExecutionPlans> plansOf(std::unique_ptr<fe::graph::Graph> graph, int64_t tensors,
                                        const std::vector<fe::NumericalNote_t>& barred, const std::string& kind) {
  auto engines = std::make_unique<CudnnPlans>(std::move(graph), tensors);
  const std::string refusal = engines->create(barred);
  counts.add(kind, std::ssize(engines->names()), refusal);
  if (!refusal.empty()) return nullptr;
  return engines;
}

std::unique_ptr<ExecutionPlans> newConvPlans(const ConvolutionProblem& p) {
  const auto plans = [&](void (*addSums)(fe::graph::Graph&, const Tensor&, int64_t), const std::string& kind) {
    auto graph = emptyGraph(p.type);
    const Tensor result = addConvolution(*graph, p);
    if (addSums != nullptr) addSums(*graph, result, p.outputs);
    return plansOf(std::move(graph), addSums != nullptr ? 5 : 3, notesOf(p.barredNotes()), kind);
  };
  if (!p.sums) return plans(nullptr, "convolution");
  auto asOne = p.type != Element::fp32 ? plans(addStatistics, "convolution with statistics") : nullptr;
  return asOne ? std::move(asOne) : plans(addReductions, "convolution with two reductions");
}

std::unique_ptr<ExecutionPlans> newNormPlans(const NormProblem& p) {
  auto graph = emptyGraph(p.type);
  (p.backward ? addNormBackward : addNormForward)(*graph, p);
  return plansOf(std::move(graph), p.backward ? 10 : 12, {}, p.backward ? "batch-norm, backward" : "batch-norm");
}

}  // namespace

std::shared_ptr<ExecutionPlans> cudnnConvPlans(const ConvolutionProblem& problem) {
  return sharedPlans(problem.text(), [&] { return newConvPlans(problem); });
}

std::shared_ptr<ExecutionPlans> cudnnNormPlans(const NormProblem& problem) {
  return sharedPlans(problem.text(), [&] { return newNormPlans(problem); });
}

std::vector<std::string> planNotes() { return counts.take(); }

std::string cudnnVersions() {
  const size_t cudnn = cudnnGetVersion();
  return concat("cuDNN ", cudnn / 10000, '.', cudnn / 100 % 100, '.', cudnn % 100, " by its frontend ",
                CUDNN_FRONTEND_MAJOR_VERSION, '.', CUDNN_FRONTEND_MINOR_VERSION, '.', CUDNN_FRONTEND_PATCH_VERSION);
}

}  // namespace tandem

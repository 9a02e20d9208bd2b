#include "executor/compile/op_cost.h"

#include <c10/core/ScalarType.h>

#include "base/text.h"
#include "executor/compile/fusion.h"
#include "executor/compile/liveness.h"
#include "executor/compile/plan_description.h"

namespace tandem {
namespace {

/// The costs of one call's passes.
class Passes {
 public:
  Passes(const Activations& activations, const OpDescription& call, size_t index, double images)
      : a_(activations), call_(call), own_(activations.calls[index]), node_(activations.plan[index]), images_(images) {
    for (const NodeId input : node_.inputs) {
      inputs_ += bytesOf(input);
      const int maker = a_.maker[static_cast<size_t>(input)];
      if (maker >= 0 && a_.calls[static_cast<size_t>(maker)].backward) inputGradients_ += bytesOf(input);
    }
  }

  OpCost forward(double parameterBytes) const {
    const double times = call_.again ? 2 : 1;
    const double bytes = inputs_ + bytesOf(node_.output) + ownBytes() + parameterBytes;
    return {concat(call_.operation, " forward"), times * call_.flops, times * bytes, concat(call_.name, " forward")};
  }

  OpCost backward(double parameterBytes) const {
    OpCost work{.name = concat(call_.operation, " backward"), .call = concat(call_.name, " backward")};
    if (!own_.backward) return work;
    const bool further = inputGradients_ > 0;
    work.flops = call_.flops * (further ? 2 : call_.parameters > 0 ? 1 : 0);
    work.bytes = bytesOf(node_.output) + ownBytes() + inputGradients_;  // the first term is the output's gradient
    for (const NodeId value : own_.read) work.bytes += bytesOf(value);
    work.bytes += parameterBytes *
                  (further ? 2 : 1);  // for the gradient of the parameters, and for that of the input the parameters
    return work;
  }

 private:
  double bytesOf(NodeId value) const { return static_cast<double>(a_.bytes[static_cast<size_t>(value)]) * images_; }
  double ownBytes() const { return static_cast<double>(own_.ownBytes) * images_; }

  const Activations& a_;
  const OpDescription& call_;
  const OpLiveness& own_;
  const PlannedNode& node_;
  double images_, inputs_ = 0, inputGradients_ = 0;
};

}  // namespace

std::vector<OpCost> opCosts(const Graph& graph, const ExecutorOptions& options, int64_t images) {
  const auto plan = fuse(graph, options.device);
  const Activations activations = activationsOf(graph, plan, options);
  const PlanDescription description = describePlan(graph, options, images);
  const auto element = static_cast<double>(c10::elementSize(options.compute));
  std::vector<OpCost> works;
  for (size_t i = 0; i < plan.size(); ++i) {
    const OpDescription& call = description.calls[i];
    const Passes passes(activations, call, i, static_cast<double>(images));
    const double parameterBytes = static_cast<double>(call.parameters) * element;
    works.push_back(passes.forward(parameterBytes));
    works.push_back(passes.backward(parameterBytes));
  }
  return works;
}

}  // namespace tandem

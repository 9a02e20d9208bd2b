#include "run/verify/weights_change.h"

#include <ATen/ATen.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace tandem {
namespace {

constexpr double leastMovedSquare = 1e-12;  // of the mean square change over all parameters

double squared(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).square().sum().item<double>();
}

double ratio(double distanceSquared, double changeSquared) {
  const double error = std::sqrt(distanceSquared / changeSquared);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

}  // namespace

HostWeights weightsOf(const Graph& graph, const FlatBuffers& buffers) {
  HostWeights weights;
  for (const Parameter& parameter : graph.parameters()) {
    const int index = buffers.indexOf(parameter.name);
    check(index >= 0, "a parameter of the graph is missing in the flat buffers");
    const at::Tensor master = buffers.masterView(index);
    weights.push_back(at::empty({master.numel()}, at::TensorOptions(master.scalar_type())));
    weights.back().view(master.sizes()).copy_(master);
  }
  return weights;
}

double changeNorm(const HostWeights& end, const HostWeights& start) {
  double sum = 0;
  for (size_t i = 0; i < end.size(); ++i) sum += squared(end[i], start[i]);
  return std::sqrt(sum);
}

ChangeError changeError(const Graph& graph, const HostWeights& weights, const HostWeights& reference,
                        const HostWeights& start) {
  const double change = std::pow(changeNorm(reference, start), 2);
  const double leastMoved = leastMovedSquare * change / static_cast<double>(parameterCount(graph));
  const std::vector<Parameter> parameters = graph.parameters();
  ChangeError error;
  double distance = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const double own = squared(weights[i], reference[i]), moved = squared(reference[i], start[i]);
    distance += own;
    if (moved < leastMoved * static_cast<double>(parameters[i].count())) continue;
    const double ofParameter = ratio(own, moved);
    if (error.where.empty() || ofParameter > error.worst) error.worst = ofParameter, error.where = parameters[i].name;
  }
  error.whole = ratio(distance, change);
  return error;
}

bool bitEqual(const HostWeights& a, const HostWeights& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    check(a[i].nbytes() == b[i].nbytes(), "bitEqual: equal shapes and types");
    if (std::memcmp(a[i].const_data_ptr(), b[i].const_data_ptr(), a[i].nbytes()) != 0) return false;
  }
  return true;
}

}  // namespace tandem

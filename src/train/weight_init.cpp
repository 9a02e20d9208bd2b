#include "train/weight_init.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <string_view>

#include "base/error.h"

namespace tandem {
namespace {

constexpr uint64_t fnvOffset = 0xCBF29CE484222325ULL;
constexpr uint64_t fnvPrime = 0x100000001B3ULL;

constexpr double firstLayerScale = 1e-6;     // Liu et al. 2022, arXiv:2201.03545
constexpr double embeddingDeviation = 0.02;  // Devlin et al. 2018, arXiv:1810.04805

uint64_t fnv1a(std::string_view bytes, uint64_t hash) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * fnvPrime;
  return hash;
}

at::Tensor initialValue(const Parameter& parameter, uint64_t seed) {
  if (parameter.role == ParameterRole::normScale) return at::ones(parameter.shape);
  if (parameter.role == ParameterRole::layerScale) return at::full(parameter.shape, firstLayerScale);
  const bool isDrawn = parameter.role == ParameterRole::weight || parameter.role == ParameterRole::embedding;
  if (!isDrawn) return at::zeros(parameter.shape);
  at::Generator generator = at::detail::createCPUGenerator(fnv1a(parameter.name, fnvOffset ^ seed));
  const double gain = parameter.shape.size() == 4 ? 2.0 : 1.0;
  const double ofWeight = std::sqrt(gain / static_cast<double>(parameter.fanIn));
  const double deviation = parameter.role == ParameterRole::embedding ? embeddingDeviation : ofWeight;
  return at::empty(parameter.shape).normal_(0, deviation, generator);
}

int indexIn(const FlatBuffers& buffers, const Parameter& parameter) {
  const int index = buffers.indexOf(parameter.name);
  check(index >= 0, "a parameter of the graph is missing in the flat buffers");
  return index;
}

}  // namespace

void initialiseWeights(const Graph& graph, uint64_t seed, FlatBuffers& buffers) {
  const at::NoGradGuard noGradients;
  for (const Parameter& parameter : graph.parameters()) {
    at::Tensor master = buffers.masterView(indexIn(buffers, parameter));
    master.copy_(initialValue(parameter, seed).view(master.sizes()));
  }
  buffers.refreshWeights();
}

uint64_t weightsFingerprint(const Graph& graph, const FlatBuffers& buffers) {
  uint64_t hash = fnvOffset;
  for (const Parameter& parameter : graph.parameters()) {
    const at::Tensor values = buffers.masterView(indexIn(buffers, parameter)).to(at::kCPU).contiguous();
    hash = fnv1a({static_cast<const char*>(values.const_data_ptr()), values.nbytes()}, hash);
  }
  return hash;
}

}  // namespace tandem

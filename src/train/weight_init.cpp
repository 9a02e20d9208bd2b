#include "train/weight_init.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
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

/// Output i becomes a copy of input i, for all that are both. `weight`: [out, in, kH, kW].
void copyInputs(at::Tensor& weight) {
  const int64_t copies = std::min(weight.size(0), weight.size(1));
  weight.narrow(0, 0, copies).zero_();
  const at::Tensor middle = weight.select(3, weight.size(3) / 2).select(2, weight.size(2) / 2);
  middle.diagonal().fill_(1);
}

at::Tensor initialValue(const Parameter& parameter, const Attributes& attributes, uint64_t seed) {
  if (parameter.role == ParameterRole::normScale) return at::ones(parameter.shape);
  if (parameter.role == ParameterRole::layerScale) return at::full(parameter.shape, firstLayerScale);
  const bool isDrawn = parameter.role == ParameterRole::weight || parameter.role == ParameterRole::embedding;
  if (!isDrawn) return at::zeros(parameter.shape);
  at::Generator generator = at::detail::createCPUGenerator(fnv1a(parameter.name, fnvOffset ^ seed));
  const double usualGain = parameter.shape.size() == 4 ? 2.0 : 1.0;
  const double gain = attributes.gain > 0 ? attributes.gain : usualGain;
  const double ofWeight = std::sqrt(gain / static_cast<double>(parameter.fanIn));
  const double deviation = parameter.role == ParameterRole::embedding ? embeddingDeviation : ofWeight;
  at::Tensor value = at::empty(parameter.shape).normal_(0, deviation, generator);
  if (attributes.identity) copyInputs(value);
  return value;
}

int indexIn(const FlatBuffers& buffers, const Parameter& parameter) {
  const int index = buffers.indexOf(parameter.name);
  check(index >= 0, "a parameter of the graph is missing in the flat buffers");
  return index;
}

}  // namespace

void initialiseWeights(const Graph& graph, uint64_t seed, const WhiteningWeights& whitening, FlatBuffers& buffers) {
  const at::NoGradGuard noGradients;
  for (const Parameter& parameter : graph.parameters()) {
    at::Tensor master = buffers.masterView(indexIn(buffers, parameter));
    const auto given = std::ranges::find(whitening, parameter.name, &WhiteningWeights::value_type::first);
    const at::Tensor value =
        given != whitening.end() ? given->second : initialValue(parameter, graph.node(parameter.node).attributes, seed);
    master.copy_(value.view(master.sizes()));
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

#include "models/names/weights_map.h"

#include "graph/operation.h"
#include "models/names/foreign_states.h"

namespace tandem {
namespace {

/// torchvision's published DenseNets use the names of 2017: "denselayer1.norm.1.weight".
constexpr NameRule olderTorchvision[] = {{"(denselayer\\d+\\.(norm|conv))\\.([12])\\.", "$1$3."}};

constexpr WeightsMap table[] = {
    {"none", "the names of the networks here, which are torchvision's where it has the network", false,
     ".num_batches_tracked", olderTorchvision, ownState},
    {"torchvision", "torchvision, of the networks that it has", false, ".num_batches_tracked", olderTorchvision,
     torchvisionState},
    {"keras", "keras.applications, as LAYER/VARIABLE", true, "", {}, kerasState},
    {"timm", "PyTorch image models (timm)", false, ".num_batches_tracked", {}, timmState},
};

}  // namespace

std::span<const WeightsMap> weightsMaps() { return table; }

ForeignState ownState(std::string_view, const Graph& graph) {
  ForeignState state;
  for (StateTensor& tensor : stateTensors(graph)) {
    ForeignTensor foreign;
    foreign.name = std::move(tensor.name);
    foreign.shape = std::move(tensor.shape);
    state.tensors.push_back(std::move(foreign));
  }
  return state;
}

ImageShape beforeFlatten(const Graph& graph, const Node& linear) {
  const Node* at = &graph.node(linear.inputs.front());
  while (at->operation->name == "dropout") at = &graph.node(at->inputs.front());
  return at->operation->name == "flatten" ? graph.node(at->inputs.front()).shape : at->shape;
}

}  // namespace tandem

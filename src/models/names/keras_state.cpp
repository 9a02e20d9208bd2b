#include <algorithm>

#include "base/text.h"
#include "graph/operation.h"
#include "models/names/foreign_states.h"
#include "models/names/name_rules.h"

namespace tandem {
namespace {

constexpr NameRule resnetRules[] = {
    {"^layer(\\d)\\.(\\d+)\\.conv(\\d)$", "conv$1+_block$2+_$3_conv"},
    {"^layer(\\d)\\.(\\d+)\\.bn(\\d)$", "conv$1+_block$2+_$3_bn"},
    {"^layer(\\d)\\.(\\d+)\\.downsample\\.0$", "conv$1+_block$2+_0_conv"},
    {"^layer(\\d)\\.(\\d+)\\.downsample\\.1$", "conv$1+_block$2+_0_bn"},
    {"^conv1$", "conv1_conv"},
    {"^bn1$", "conv1_bn"},
    {"^fc$", "predictions"},
};

constexpr NameRule densenetRules[] = {
    {"^features\\.denseblock(\\d)\\.denselayer(\\d+)\\.conv(\\d)$", "conv$1+_block$2_$3_conv"},
    {"^features\\.denseblock(\\d)\\.denselayer(\\d+)\\.norm(\\d)$", "conv$1+_block$2_$3-_bn"},
    {"^features\\.transition(\\d)\\.conv$", "pool$1+_conv"},
    {"^features\\.transition(\\d)\\.norm$", "pool$1+_bn"},
    {"^features\\.conv0$", "conv1_conv"},
    {"^features\\.norm0$", "conv1_bn"},
    {"^features\\.norm5$", "bn"},
    {"^classifier$", "predictions"},
};

constexpr NameRule vggRules[] = {
    {"^classifier\\.0$", "fc1"}, {"^classifier\\.3$", "fc2"}, {"^classifier\\.6$", "predictions"}};

std::string byRules(const Graph& graph, NodeId id, std::span<const NameRule> rules) {
  return renamed(graph.node(id).name, rules);
}

std::string resnetLayer(const Graph& graph, NodeId id) { return byRules(graph, id, resnetRules); }
std::string densenetLayer(const Graph& graph, NodeId id) { return byRules(graph, id, densenetRules); }

/// Name of a convolution by its position: the number of pooling layers before it, and its number since the last of
/// them.
std::string vggLayer(const Graph& graph, NodeId id) {
  if (graph.node(id).operation->name != "conv") return byRules(graph, id, vggRules);
  int block = 1, number = 0;
  for (NodeId at = 0; at <= id; ++at) {
    const std::string_view operation = graph.node(at).operation->name;
    if (operation == "conv") ++number;
    if (operation == "max_pool") ++block, number = 0;
  }
  return concat("block", block, "_conv", number);
}

/// Layers without a name of their own are numbered. There is no auxiliary head.
std::string inceptionLayer(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::vector<bool> auxiliary = auxiliaryOnly(graph);
  if (auxiliary[static_cast<size_t>(id)]) return node.name;  // the file does not have the auxiliary head
  if (node.operation->name == "linear") return "predictions";
  int before = 0;
  for (NodeId at = 0; at < id; ++at) {
    before += graph.node(at).operation == node.operation && !auxiliary[static_cast<size_t>(at)] ? 1 : 0;
  }
  const std::string kind = node.operation->name == "conv" ? "conv2d" : "batch_normalization";
  return before == 0 ? kind : concat(kind, '_', before);
}

struct Family {
  const char* models;  // a regular expression
  std::string_view shown;
  std::string (*layer)(const Graph&, NodeId);
  double epsilon;  // epsilon of batch-norm
  bool hasScale;   // batch-norm has a gamma
  bool hasBias;    // convolutions before batch-norm have a bias
  std::string_view difference;
};

constexpr Family families[] = {
    {"resnet\\d+_v1|keras_resnet50", "keras_resnet50, resnet50_v1", resnetLayer, 1.001e-5, true, true, ""},
    {"densenet(121|169|201)", "densenet121, densenet169, densenet201", densenetLayer, 1.001e-5, true, false, ""},
    {"vgg(16|19)", "vgg16, vgg19", vggLayer, 0, true, false, ""},
    {"keras_inception_v3", "keras_inception_v3", inceptionLayer, 1e-3, false, false, ""},
    {"inception_v3", "inception_v3", inceptionLayer, 1e-3, false, false,
     "its average pools of 3x3 leave the padding out of the mean, here it counts as zeros: outputs differ, with "
     "--model=keras_inception_v3 they do not"},
};

const Family& knownFamily(std::string_view model) {
  const std::string_view hint =
      model.starts_with("resnet")
          ? "; ResNet of keras.applications has its stride on the first 1x1: keras_resnet50, resnet50_v1"
          : "";
  return familyOf(std::span<const Family>(families), "keras", model, hint);
}

void describeLinear(ForeignTensor& foreign, const ImageShape& pixels, int64_t outputs) {
  foreign.name += "/kernel";
  foreign.shape = {pixels.count(), outputs};
  foreign.view = {pixels.height, pixels.width, pixels.channels, outputs};
  foreign.axes = {3, 2, 0, 1};
}

void describeWeight(ForeignTensor& foreign, const Graph& graph, const StateTensor& own) {
  const Node& node = graph.node(own.node);
  if (node.operation->name == "linear") return describeLinear(foreign, beforeFlatten(graph, node), own.shape[0]);
  foreign.name += "/kernel";
  foreign.shape = {own.shape[2], own.shape[3], own.shape[1], own.shape[0]};
  foreign.axes = {3, 2, 0, 1};
}

ForeignTensor foreignTensor(const Family& family, const Graph& graph, const StateTensor& own) {
  const Node& node = graph.node(own.node);
  ForeignTensor foreign;
  foreign.name = family.layer(graph, own.node);
  foreign.shape = own.shape;
  if (own.kind == StateTensor::Kind::runningMean) {
    foreign.name += "/moving_mean";
    const Node& before = graph.node(node.inputs.front());
    const bool leftOut = family.hasBias && before.operation->name == "conv" && !before.attributes.bias;
    if (leftOut) foreign.subtracted = family.layer(graph, node.inputs.front()) + "/bias";
  } else if (own.kind == StateTensor::Kind::runningVariance) {
    foreign.name += "/moving_variance";
    foreign.added = family.epsilon - node.attributes.epsilon;
  } else if (own.role == ParameterRole::normScale) {
    foreign.name += "/gamma";
    if (!family.hasScale) foreign.ifMissing = 1;
  } else if (own.role == ParameterRole::weight) {
    describeWeight(foreign, graph, own);
  } else {
    foreign.name += own.role == ParameterRole::normShift ? "/beta" : "/bias";
  }
  return foreign;
}

}  // namespace

ForeignState kerasState(std::string_view model, const Graph& graph) {
  const Family& family = knownFamily(model);
  ForeignState state{.tensors = {}, .difference = std::string(family.difference)};
  const std::vector<bool> auxiliary = auxiliaryOnly(graph);
  for (const StateTensor& own : stateTensors(graph)) {
    state.tensors.push_back(foreignTensor(family, graph, own));
    state.tensors.back().absent = auxiliary[static_cast<size_t>(own.node)];
  }
  return state;
}

}  // namespace tandem

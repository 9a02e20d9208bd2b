#include "base/text.h"
#include "graph/operation.h"
#include "models/names/foreign_states.h"
#include "models/names/name_rules.h"

namespace tandem {
namespace {

constexpr NameRule vggRules[] = {{"^classifier\\.0\\.", "pre_logits.fc1."},
                                 {"^classifier\\.3\\.", "pre_logits.fc2."},
                                 {"^classifier\\.6\\.", "head.fc."}};

constexpr NameRule efficientnetRules[] = {
    {"^features\\.0\\.0\\.", "conv_stem."},
    {"^features\\.0\\.1\\.", "bn1."},
    {"^features\\.8\\.0\\.", "conv_head."},
    {"^features\\.8\\.1\\.", "bn2."},
    {"^classifier\\.1\\.", "classifier."},
    {"^features\\.(\\d)\\.(\\d+)\\.block\\.", "blocks.$1-.$2."},
    // The first stage has no expansion.
    {"^(blocks\\.0\\.\\d+\\.)0\\.0\\.", "$1conv_dw."},
    {"^(blocks\\.0\\.\\d+\\.)0\\.1\\.", "$1bn1."},
    {"^(blocks\\.0\\.\\d+\\.)1\\.fc", "$1se.fc"},
    {"^(blocks\\.0\\.\\d+\\.)2\\.0\\.", "$1conv_pw."},
    {"^(blocks\\.0\\.\\d+\\.)2\\.1\\.", "$1bn2."},
    {"^(blocks\\.[1-9]\\.\\d+\\.)0\\.0\\.", "$1conv_pw."},
    {"^(blocks\\.[1-9]\\.\\d+\\.)0\\.1\\.", "$1bn1."},
    {"^(blocks\\.[1-9]\\.\\d+\\.)1\\.0\\.", "$1conv_dw."},
    {"^(blocks\\.[1-9]\\.\\d+\\.)1\\.1\\.", "$1bn2."},
    {"^(blocks\\.[1-9]\\.\\d+\\.)2\\.fc", "$1se.fc"},
    {"^(blocks\\.[1-9]\\.\\d+\\.)3\\.0\\.", "$1conv_pwl."},
    {"^(blocks\\.[1-9]\\.\\d+\\.)3\\.1\\.", "$1bn3."},
    {"\\.se\\.fc1\\.", ".se.conv_reduce."},
    {"\\.se\\.fc2\\.", ".se.conv_expand."},
};

constexpr NameRule regnetRules[] = {
    {"^trunk_output\\.block(\\d)\\.block\\d-(\\d+)\\.", "s$1.b$2+."},
    {"\\.f\\.a\\.", ".conv1."},
    {"\\.f\\.b\\.", ".conv2."},
    {"\\.f\\.c\\.", ".conv3."},
    {"\\.f\\.se\\.", ".se."},
    {"\\.proj\\.", ".downsample."},
    {"(stem|conv\\d|downsample)\\.0\\.", "$1.conv."},
    {"(stem|conv\\d|downsample)\\.1\\.", "$1.bn."},
    {"^fc\\.", "head.fc."},
};

constexpr NameRule convnextRules[] = {
    {"^features\\.0\\.", "stem."},
    {"^features\\.1\\.", "stages.0.blocks."},
    {"^features\\.2\\.", "stages.1.downsample."},
    {"^features\\.3\\.", "stages.1.blocks."},
    {"^features\\.4\\.", "stages.2.downsample."},
    {"^features\\.5\\.", "stages.2.blocks."},
    {"^features\\.6\\.", "stages.3.downsample."},
    {"^features\\.7\\.", "stages.3.blocks."},
    {"\\.block\\.0\\.", ".conv_dw."},
    {"\\.block\\.2\\.", ".norm."},
    {"\\.block\\.3\\.", ".mlp.fc1."},
    {"\\.block\\.5\\.", ".mlp.fc2."},
    {"\\.layer_scale$", ".gamma"},
    {"^classifier\\.0\\.", "head.norm."},
    {"^classifier\\.2\\.", "head.fc."},
};

constexpr NameRule transformerRules[] = {
    {"^class_token$", "cls_token"},
    {"^encoder\\.pos_embedding$", "pos_embed"},
    {"^conv_proj\\.", "patch_embed.proj."},
    {"^encoder\\.layers\\.encoder_layer_(\\d+)\\.", "blocks.$1."},
    {"\\.ln_(\\d)\\.", ".norm$1."},
    {"\\.self_attention\\.in_proj_", ".attn.qkv."},
    {"\\.self_attention\\.out_proj\\.", ".attn.proj."},
    {"\\.mlp\\.0\\.", ".mlp.fc1."},
    {"\\.mlp\\.3\\.", ".mlp.fc2."},
    {"^encoder\\.ln\\.", "norm."},
    {"^heads\\.head\\.", "head."},
};

constexpr NameRule mobilenetRules[] = {
    {"^features\\.0\\.0\\.", "conv_stem."},
    {"^features\\.0\\.1\\.", "bn1."},
    {"^features\\.18\\.0\\.", "conv_head."},
    {"^features\\.18\\.1\\.", "bn2."},
    {"^classifier\\.1\\.", "classifier."},
    // The first block has no expansion.
    {"^features\\.(1)\\.conv\\.0\\.0\\.", "$1/conv_dw."},
    {"^features\\.(1)\\.conv\\.0\\.1\\.", "$1/bn1."},
    {"^features\\.(1)\\.conv\\.1\\.", "$1/conv_pw."},
    {"^features\\.(1)\\.conv\\.2\\.", "$1/bn2."},
    {"^features\\.(\\d+)\\.conv\\.0\\.0\\.", "$1/conv_pw."},
    {"^features\\.(\\d+)\\.conv\\.0\\.1\\.", "$1/bn1."},
    {"^features\\.(\\d+)\\.conv\\.1\\.0\\.", "$1/conv_dw."},
    {"^features\\.(\\d+)\\.conv\\.1\\.1\\.", "$1/bn2."},
    {"^features\\.(\\d+)\\.conv\\.2\\.", "$1/conv_pwl."},
    {"^features\\.(\\d+)\\.conv\\.3\\.", "$1/bn3."},
};

/// Here the blocks of one width are numbered consecutively; in timm they form a stage.
std::string mobilenetBlock(const Graph& graph, int block) {
  int stage = -1, index = 0;
  int64_t width = 0;
  for (int at = 1; at <= block; ++at) {
    const std::string prefix = concat("features.", at, '.');
    int64_t outputs = 0;
    for (const Node& node : graph.nodes()) {
      if (node.name.starts_with(prefix)) outputs = node.shape.channels;
    }
    index = outputs == width ? index + 1 : 0;
    stage += outputs == width ? 0 : 1;
    width = outputs;
  }
  return concat("blocks.", stage, '.', index, '.');
}

std::string mobilenetName(const Graph& graph, const StateTensor& own) {
  const std::string name = renamed(own.name, mobilenetRules);
  const size_t slash = name.find('/');
  return slash == std::string::npos ? name
                                    : mobilenetBlock(graph, std::stoi(name.substr(0, slash))) + name.substr(slash + 1);
}

template <const auto& rules>
std::string byRules(const Graph&, const StateTensor& own) {
  return renamed(own.name, rules);
}

std::string unchanged(const Graph&, const StateTensor& own) { return own.name; }

struct Family {
  const char* models;  // a regular expression
  std::string_view shown;
  std::string (*name)(const Graph&, const StateTensor&);
};

constexpr Family families[] = {
    {"resnet(18|34|50|101|152)|resnext.*|wide_resnet.*", "resnet18 to resnet152, resnext..., wide_resnet...",
     unchanged},
    {"densenet(121|161|169|201)", "densenet121, ...", unchanged},
    {"inception_v3", "inception_v3", unchanged},
    {"vgg.*", "vgg11, ...", byRules<vggRules>},
    {"efficientnet_b\\d", "efficientnet_b0, ...", byRules<efficientnetRules>},
    {"mobilenet_v2", "mobilenet_v2", mobilenetName},
    {"regnet_y_.*", "regnet_y_...", byRules<regnetRules>},
    {"convnext_.*", "convnext_tiny, ...", byRules<convnextRules>},
    {"vit_.*", "vit_b_16, ...", byRules<transformerRules>},
};

std::vector<int64_t> shapeThere(const Graph& graph, const StateTensor& own, std::string_view name) {
  const bool isMatrix = own.kind == StateTensor::Kind::parameter && own.role == ParameterRole::weight;
  if (own.role == ParameterRole::layerScale) return {own.shape.front()};
  if (!isMatrix || !name.starts_with("pre_logits.")) return own.shape;
  const ImageShape pixels = beforeFlatten(graph, graph.node(own.node));  // timm has a convolution here
  return {own.shape.front(), pixels.channels, pixels.height, pixels.width};
}

}  // namespace

ForeignState timmState(std::string_view model, const Graph& graph) {
  const Family& family = familyOf(std::span<const Family>(families), "timm", model);
  const std::vector<bool> auxiliary = auxiliaryOnly(graph);
  ForeignState state;
  for (const StateTensor& own : stateTensors(graph)) {
    ForeignTensor foreign;
    foreign.name = family.name(graph, own);
    foreign.shape = shapeThere(graph, own, foreign.name);
    foreign.absent = auxiliary[static_cast<size_t>(own.node)];
    state.tensors.push_back(std::move(foreign));
  }
  return state;
}

}  // namespace tandem

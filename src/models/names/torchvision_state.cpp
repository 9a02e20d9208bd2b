#include "models/names/foreign_states.h"

namespace tandem {
namespace {

struct Family {
  const char* models;  // a regular expression
  std::string_view shown;
};

constexpr Family families[] = {
    {"resnet(18|34|50|101|152)", "resnet18 to resnet152"},
    {"resnext50_32x4d|wide_resnet50_2", "resnext50_32x4d, wide_resnet50_2"},
    {"densenet(121|169|201)", "densenet121, densenet169, densenet201"},
    {"vgg(11|13|16|19)|alexnet", "vgg11 to vgg19, alexnet"},
    {"googlenet|inception_v3", "googlenet, inception_v3"},
    {"mobilenet_v2|efficientnet_b0|regnet_y_3_2gf", "mobilenet_v2, efficientnet_b0, regnet_y_3_2gf"},
    {"squeezenet1_[01]", "squeezenet1_0, squeezenet1_1"},
    {"convnext_tiny|vit_b_16", "convnext_tiny, vit_b_16"},
};

}  // namespace

ForeignState torchvisionState(std::string_view model, const Graph& graph) {
  familyOf(std::span<const Family>(families), "torchvision", model);
  return ownState(model, graph);
}

}  // namespace tandem

#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/catalog.h"
#include "models/model.h"

namespace tandem {

/// A network of the zoo, and a size of images that is small but not too small for it.
struct TypicalNetwork {
  std::string_view model;
  int64_t imageSize;
};

/// Of each family those that differ in more than the number and width of their layers. Ordinary tests of whole networks
/// run these; the others of the zoo run in the long tests. That no family lacks one is tested in models/model_test.cpp.
inline constexpr TypicalNetwork typicalNetworks[] = {
    {"resnet18", 32},        {"resnet50", 32},
    {"resnext50_32x4d", 32}, {"resnet20", 16},
    {"resnet20_v2", 16},     {"vgg11", 32},
    {"alexnet", 64},         {"trivial", 16},
    {"googlenet", 64},       {"inception_v3", 96},
    {"densenet121", 64},     {"mobilenet_v2", 32},
    {"squeezenet1_1", 32},   {"efficientnet_b0", 32},
    {"regnet_y_3_2gf", 32},  {"convnext_tiny", 32},
    {"vit_b_16", 32},        {"lenet5", 12},
    {"densenet40_k12", 16},  {"alexnet_cifar", 12},
    {"keras_cnn", 14},       {"overfeat", 71},
    {"resnetv2_50", 32},     {"resnet9", 16},
    {"airbench94", 16},      {"keras_inception_v3", 96},
    {"inception_v4", 96},    {"nasnet_mobile", 64},
    {"frameworks_cnn", 12},  {"mlp", 52},
    {"ssd300", 300},
};

/// One with more takes seconds and gigabytes in every test, which are then long.
inline constexpr int64_t mostQuickParameters = 65'000'000;

inline bool sameFamily(std::string_view model, const ModelEntry& entry) {
  return find(models(), model, "model").build == entry.build;
}

inline bool isTypical(const ModelEntry& entry) {
  return std::ranges::find(typicalNetworks, entry.name, &TypicalNetwork::model) != std::end(typicalNetworks);
}

}  // namespace tandem

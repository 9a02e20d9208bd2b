#include "data/transform/normalizations.h"

namespace tandem {
namespace {

constexpr NormalizationEntry table[] = {
    {"imagenet",
     "mean and deviation of ImageNet, per channel: torchvision and timm",
     {{0.485F * 255, 0.456F * 255, 0.406F * 255}, {0.229F * 255, 0.224F * 255, 0.225F * 255}}},
    {"symmetric", "from -1 to 1: Inception-v3 of Keras", {{127.5F, 127.5F, 127.5F}, {127.5F, 127.5F, 127.5F}}},
    {"caffe",
     "blue first, the mean of ImageNet taken off: ResNet and VGG of Keras",
     {{103.939F, 116.779F, 123.68F}, {1, 1, 1}},
     "bgr"},
};

}  // namespace

std::span<const NormalizationEntry> normalizations() { return table; }
const Normalization& usualNormalization() { return table[0].normalization; }

}  // namespace tandem

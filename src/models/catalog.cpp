#include "base/catalog.h"

#include <array>

#include "models/families.h"
#include "models/model.h"

namespace tandem {
namespace {

constexpr ImageShape imagenet{3, 224, 224}, cifar{3, 32, 32}, trivialInput{3, 227, 227};
constexpr std::string_view resnetPaper = "He et al. 2015, arXiv:1512.03385; torchvision";
constexpr std::string_view tensorflow = "tf_cnn_benchmarks";

constexpr std::array catalog{
    ModelEntry{"resnet18", "ResNet-18", resnetPaper, imagenet, 1000, 11689512, 3628146688., 16, 0.01, buildResnet},
    ModelEntry{"resnet34", "ResNet-34", resnetPaper, imagenet, 1000, 21797672, 7327522816., 16, 0.01, buildResnet},
    ModelEntry{"resnet50", "ResNet-50 v1.5, stride on the 3x3", resnetPaper, imagenet, 1000, 25557032, 8178368512., 16,
               0.01, buildResnet},
    ModelEntry{"resnet101", "ResNet-101 v1.5", resnetPaper, imagenet, 1000, 44549160, 15602810880., 16, 0.01,
               buildResnet},
    ModelEntry{"resnet152", "ResNet-152 v1.5", resnetPaper, imagenet, 1000, 60192808, 23027253248., 16, 0.01,
               buildResnet},
    ModelEntry{"resnet50_v1", "ResNet-50 v1, stride on the first 1x1", "He et al. 2015, arXiv:1512.03385", imagenet,
               1000, 25557032, 7715946496., 16, 0.01, buildResnet},
    ModelEntry{"resnet20", "ResNet-20 for CIFAR", tensorflow, cifar, 10, 269722, 81102080., 64, 0.1, buildCifarResnet},
    ModelEntry{"resnet32", "ResNet-32 for CIFAR", tensorflow, cifar, 10, 464154, 137725184., 64, 0.1, buildCifarResnet},
    ModelEntry{"resnet44", "ResNet-44 for CIFAR", tensorflow, cifar, 10, 658586, 194348288., 64, 0.1, buildCifarResnet},
    ModelEntry{"resnet56", "ResNet-56 for CIFAR", tensorflow, cifar, 10, 853018, 250971392., 64, 0.1, buildCifarResnet},
    ModelEntry{"resnet110", "ResNet-110 for CIFAR", tensorflow, cifar, 10, 1727962, 505775360., 64, 0.1,
               buildCifarResnet},
    ModelEntry{"vgg16", "VGG-16", "Simonyan and Zisserman 2014, arXiv:1409.1556; torchvision", imagenet, 1000,
               138357544, 30940528640., 16, 0.005, buildVgg},
    ModelEntry{"alexnet", "AlexNet, one tower", "Krizhevsky 2014, arXiv:1404.5997; torchvision", imagenet, 1000,
               61100840, 1428376960., 64, 0.005, buildAlexnet},
    ModelEntry{"trivial", "three linear layers: the cost of everything but arithmetic", tensorflow, trivialInput, 1000,
               4259780, 8509366., 32, 0.005, buildTrivial},
};

constexpr int64_t mostClasses = 10'000'000, largestImage = 32'768;

int64_t resolved(int64_t given, int64_t ownDefault, int64_t most, std::string_view what) {
  if (given == 0) return ownDefault;
  if (given >= 1 && given <= most) return given;
  throw UsageError(concat(what, " ", given, ": must be from 1 to ", most));
}

ModelOptions resolve(const ModelEntry& entry, ModelOptions options) {
  options.classes = resolved(options.classes, entry.classes, mostClasses, "classes");
  options.imageSize = resolved(options.imageSize, entry.input.height, largestImage, "image size");
  return options;
}

}  // namespace

std::span<const ModelEntry> models() { return catalog; }

Graph buildModel(std::string_view name, const ModelOptions& options) {
  const ModelEntry& entry = find(models(), name, "model");
  try {
    return entry.build(entry, resolve(entry, options));
  } catch (const UsageError& broken) {
    throw UsageError(concat("model ", name, ": ", broken.what()));
  }
}

}  // namespace tandem

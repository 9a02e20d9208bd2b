#include "base/catalog.h"

#include <array>

#include "config/network_path.h"
#include "graph/network.h"
#include "models/families.h"
#include "models/model.h"
#include "models/onnx/onnx_network.h"

namespace tandem {
namespace {

constexpr ImageShape imagenet{3, 224, 224}, inceptionInput{3, 299, 299}, cifar{3, 32, 32}, lenetInput{3, 28, 28},
    trivialInput{3, 227, 227}, overfeatInput{3, 231, 231}, nasnetInput{3, 331, 331}, mlpInput{3, 52, 52},
    ssdInput{3, 300, 300};
constexpr std::string_view resnetPaper = "He et al. 2015, arXiv:1512.03385; torchvision";
constexpr std::string_view vggPaper = "Simonyan and Zisserman 2014, arXiv:1409.1556; torchvision";
constexpr std::string_view densenetPaper = "Huang et al. 2016, arXiv:1608.06993; torchvision";
constexpr std::string_view squeezenetPaper = "Iandola et al. 2016, arXiv:1602.07360; torchvision";
constexpr std::string_view resnetV1Paper = "He et al. 2015, arXiv:1512.03385";
constexpr std::string_view resnetV2Source = "He et al. 2016, arXiv:1603.05027; tf_cnn_benchmarks";
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
    ModelEntry{"resnet50_v1", "ResNet-50 v1, stride on the first 1x1", resnetV1Paper, imagenet, 1000, 25557032,
               7715946496., 16, 0.01, buildResnet},
    ModelEntry{"resnet101_v1", "ResNet-101 v1", resnetV1Paper, imagenet, 1000, 44549160, 15140388864., 16, 0.01,
               buildResnet},
    ModelEntry{"resnet152_v1", "ResNet-152 v1", resnetV1Paper, imagenet, 1000, 60192808, 22564831232., 16, 0.01,
               buildResnet},
    ModelEntry{"resnet50_v2", "ResNet-50 v2, batch-norm and ReLU first, stride on the first 1x1", resnetV2Source,
               imagenet, 1000, 25549480, 7715946496., 16, 0.01, buildResnetV2},
    ModelEntry{"resnet101_v2", "ResNet-101 v2", resnetV2Source, imagenet, 1000, 44541608, 15140388864., 16, 0.01,
               buildResnetV2},
    ModelEntry{"resnet152_v2", "ResNet-152 v2", resnetV2Source, imagenet, 1000, 60185256, 22564831232., 16, 0.01,
               buildResnetV2},
    ModelEntry{"resnetv2_50", "ResNet-50 v2, stride on the 3x3", "He et al. 2016, arXiv:1603.05027; timm", imagenet,
               1000, 25549352, 8178368512., 16, 0.01, buildResnetV2},
    ModelEntry{"keras_resnet50", "ResNet-50 v1 of Keras, which gives each convolution a bias: 26,560 parameters more",
               "He et al. 2015, arXiv:1512.03385; Keras", imagenet, 1000, 25583592, 7715946496., 16, 0.01, buildResnet},
    ModelEntry{"resnet18_cifar", "ResNet-18 behind a 3x3 convolution, for CIFAR",
               "He et al. 2015, arXiv:1512.03385; kuangliu/pytorch-cifar", cifar, 10, 11173962, 1110845440., 64, 0.05,
               buildResnet},
    ModelEntry{"resnet9", "ResNet-9 for CIFAR", "Page 2018, DAWNBench; davidcpage/cifar10-fast", cifar, 10, 6573120,
               758523904., 64, 0.05, buildResnet9},
    ModelEntry{"airbench94", "a small network for CIFAR behind a whitening convolution",
               "Jordan 2024, arXiv:2404.00498; KellerJordan/cifar10-airbench", cifar, 10, 1971640, 236294720., 64, 0.05,
               buildAirbench},
    ModelEntry{"resnet20", "ResNet-20 for CIFAR", tensorflow, cifar, 10, 269722, 81102080., 64, 0.1, buildCifarResnet},
    ModelEntry{"resnet32", "ResNet-32 for CIFAR", tensorflow, cifar, 10, 464154, 137725184., 64, 0.1, buildCifarResnet},
    ModelEntry{"resnet44", "ResNet-44 for CIFAR", tensorflow, cifar, 10, 658586, 194348288., 64, 0.1, buildCifarResnet},
    ModelEntry{"resnet56", "ResNet-56 for CIFAR", tensorflow, cifar, 10, 853018, 250971392., 64, 0.1, buildCifarResnet},
    ModelEntry{"resnet110", "ResNet-110 for CIFAR", tensorflow, cifar, 10, 1727962, 505775360., 64, 0.1,
               buildCifarResnet},
    ModelEntry{"resnet20_v2", "ResNet-20 v2 for CIFAR, batch-norm and ReLU first", tensorflow, cifar, 10, 269754,
               81102080., 64, 0.1, buildCifarResnet},
    ModelEntry{"resnet32_v2", "ResNet-32 v2 for CIFAR, batch-norm and ReLU first", tensorflow, cifar, 10, 464186,
               137725184., 64, 0.1, buildCifarResnet},
    ModelEntry{"resnet44_v2", "ResNet-44 v2 for CIFAR, batch-norm and ReLU first", tensorflow, cifar, 10, 658618,
               194348288., 64, 0.1, buildCifarResnet},
    ModelEntry{"resnet56_v2", "ResNet-56 v2 for CIFAR, batch-norm and ReLU first", tensorflow, cifar, 10, 853050,
               250971392., 64, 0.1, buildCifarResnet},
    ModelEntry{"resnet110_v2", "ResNet-110 v2 for CIFAR, batch-norm and ReLU first", tensorflow, cifar, 10, 1727994,
               505775360., 64, 0.1, buildCifarResnet},
    ModelEntry{"resnext50_32x4d", "ResNeXt-50, 32 groups of 4 channels",
               "Xie et al. 2016, arXiv:1611.05431; torchvision", imagenet, 1000, 25028904, 8460959744., 16, 0.01,
               buildResnet},
    ModelEntry{"wide_resnet50_2", "Wide ResNet-50, bottlenecks twice as wide",
               "Zagoruyko and Komodakis 2016, arXiv:1605.07146; torchvision", imagenet, 1000, 68883240, 22796042240.,
               16, 0.01, buildResnet},
    ModelEntry{"vgg11", "VGG-11", vggPaper, imagenet, 1000, 132863336, 15218180096., 16, 0.005, buildVgg},
    ModelEntry{"vgg13", "VGG-13", vggPaper, imagenet, 1000, 133047848, 22616932352., 16, 0.005, buildVgg},
    ModelEntry{"vgg16", "VGG-16", vggPaper, imagenet, 1000, 138357544, 30940528640., 16, 0.005, buildVgg},
    ModelEntry{"vgg19", "VGG-19", vggPaper, imagenet, 1000, 143667240, 39264124928., 16, 0.005, buildVgg},
    ModelEntry{"alexnet", "AlexNet, one tower", "Krizhevsky 2014, arXiv:1404.5997; torchvision", imagenet, 1000,
               61100840, 1428376960., 64, 0.005, buildAlexnet},
    ModelEntry{"googlenet", "GoogLeNet with batch-norm and two auxiliary heads",
               "Szegedy et al. 2014, arXiv:1409.4842; torchvision", imagenet, 1000, 13004888, 3013496832., 32, 0.01,
               buildGooglenet},
    ModelEntry{"inception_v3", "Inception-v3 with auxiliary head", "Szegedy et al. 2015, arXiv:1512.00567; torchvision",
               inceptionInput, 1000, 27161264, 11437798592., 16, 0.01, buildInceptionV3},
    ModelEntry{"keras_inception_v3",
               "Inception-v3 of Keras, without auxiliary head (3,326,696 parameters) and batch-norm's scale (17,216)",
               "Szegedy et al. 2015, arXiv:1512.00567; Keras", inceptionInput, 1000, 23817352, 11426432192., 16, 0.01,
               buildKerasInceptionV3},
    ModelEntry{"inception_v4", "Inception-v4", "Szegedy et al. 2016, arXiv:1602.07261; timm", inceptionInput, 1000,
               42679816, 24507949248., 16, 0.01, buildInceptionV4},
    ModelEntry{"nasnet_mobile", "NASNet-A mobile, 4 @ 1056", "Zoph et al. 2017, arXiv:1707.07012; timm's cells",
               imagenet, 1000, 5289978, 1127277632., 16, 0.01, buildNasnet},
    ModelEntry{"nasnet_large", "NASNet-A large, 6 @ 4032", "Zoph et al. 2017, arXiv:1707.07012; timm", nasnetInput,
               1000, 88753150, 47566829316., 4, 0.01, buildNasnet},
    ModelEntry{"densenet121", "DenseNet-121", densenetPaper, imagenet, 1000, 7978856, 5668323328., 16, 0.01,
               buildDensenet},
    ModelEntry{"densenet169", "DenseNet-169", densenetPaper, imagenet, 1000, 14149480, 6719686656., 16, 0.01,
               buildDensenet},
    ModelEntry{"densenet201", "DenseNet-201", densenetPaper, imagenet, 1000, 20013928, 8582731776., 16, 0.01,
               buildDensenet},
    ModelEntry{"densenet40_k12", "DenseNet-40, growth 12, for CIFAR, narrow transitions", tensorflow, cifar, 10, 357322,
               303111456., 64, 0.1, buildCifarDensenet},
    ModelEntry{"densenet100_k12", "DenseNet-100, growth 12, for CIFAR, narrow transitions", tensorflow, cifar, 10,
               2217002, 1919786976., 64, 0.1, buildCifarDensenet},
    ModelEntry{"densenet100_k24", "DenseNet-100, growth 24, for CIFAR, narrow transitions", tensorflow, cifar, 10,
               8659178, 7448412096., 64, 0.1, buildCifarDensenet},
    ModelEntry{"densenet40_k12_paper", "DenseNet-40, growth 12, for CIFAR", "Huang et al. 2016, arXiv:1608.06993",
               cifar, 10, 1019722, 529625856., 64, 0.1, buildCifarDensenet},
    ModelEntry{"densenet100_k12_paper", "DenseNet-100, growth 12, for CIFAR", "Huang et al. 2016, arXiv:1608.06993",
               cifar, 10, 6979642, 3539032896., 64, 0.1, buildCifarDensenet},
    ModelEntry{"densenet100_k24_paper", "DenseNet-100, growth 24, for CIFAR", "Huang et al. 2016, arXiv:1608.06993",
               cifar, 10, 27249082, 13778695488., 64, 0.1, buildCifarDensenet},
    ModelEntry{"mobilenet_v2", "MobileNet-v2", "Sandler et al. 2018, arXiv:1801.04381; torchvision", imagenet, 1000,
               3504872, 601548544., 32, 0.01, buildMobilenetV2},
    ModelEntry{"squeezenet1_0", "SqueezeNet 1.0", squeezenetPaper, imagenet, 1000, 1248424, 1637849152., 32, 0.005,
               buildSqueezenet},
    ModelEntry{"squeezenet1_1", "SqueezeNet 1.1", squeezenetPaper, imagenet, 1000, 1235496, 698303872., 32, 0.005,
               buildSqueezenet},
    ModelEntry{"efficientnet_b0", "EfficientNet-B0", "Tan and Le 2019, arXiv:1905.11946; torchvision", imagenet, 1000,
               5288548, 771629504., 16, 0.01, buildEfficientnet},
    ModelEntry{"regnet_y_3_2gf", "RegNetY-3.2GF", "Radosavovic et al. 2020, arXiv:2003.13678; torchvision", imagenet,
               1000, 19436338, 6352965504., 16, 0.01, buildRegnet},
    ModelEntry{"regnet_y_4gf", "RegNetY-4.0GF", "Radosavovic et al. 2020, arXiv:2003.13678; pycls, timm's regnety_040",
               imagenet, 1000, 20646656, 7946576896., 16, 0.01, buildRegnet},
    ModelEntry{"convnext_tiny", "ConvNeXt-Tiny", "Liu et al. 2022, arXiv:2201.03545; torchvision", imagenet, 1000,
               28589128, 8911062528., 16, 0.005, buildConvnext},
    ModelEntry{"vit_b_16", "Vision Transformer B/16", "Dosovitskiy et al. 2020, arXiv:2010.11929; torchvision",
               imagenet, 1000, 86567656, 35127656448., 16, 0.005, buildVisionTransformer},
    ModelEntry{"ssd300", "SSD-300 with ResNet-34, a detector trained on synthetic boxes",
               "Liu et al. 2015, arXiv:1512.02325; tf_cnn_benchmarks", ssdInput, 81, 19972534, 31724157440., 4, 0.001,
               buildSsd300},
    ModelEntry{"lenet5", "LeNet-5, two convolutions and two linear layers", tensorflow, lenetInput, 1000, 2172840,
               28068864., 32, 0.005, buildLenet},
    ModelEntry{"overfeat", "OverFeat, the fast one", tensorflow, overfeatInput, 1000, 145920872, 5602807808., 32, 0.005,
               buildOverfeat},
    ModelEntry{"alexnet_cifar", "AlexNet for CIFAR", tensorflow, cifar, 10, 1756426, 65556224., 64, 0.05,
               buildCifarAlexnet},
    ModelEntry{"keras_cnn", "four convolutions for CIFAR", "Keras, examples/cifar10_cnn.py", cifar, 10, 1250858,
               41482240., 64, 0.005, buildKerasCnn},
    ModelEntry{"frameworks_cnn", "four convolutions and two linear layers for CIFAR", "ilkarman/DeepLearningFrameworks",
               cifar, 10, 3441592, 124528640., 64, 0.01, buildFrameworksCnn},
    ModelEntry{"mlp", "five linear layers over 8000 values, one sigmoid",
               "kuza55, Transparent Multi-GPU Training on TensorFlow with Keras", mlpInput, 1, 41157101, 82300600., 64,
               0.005, buildMlp},
    ModelEntry{"trivial", "three linear layers: the cost of everything but arithmetic", tensorflow, trivialInput, 1000,
               4259780, 8509366., 32, 0.005, buildTrivial},
};

constexpr int64_t mostClasses = 10'000'000, largestImage = 32'768;

int64_t resolved(int64_t given, int64_t ownDefault, int64_t most, std::string_view what) {
  if (given == 0) return ownDefault;
  if (given >= 1 && given <= most) return given;
  throw UsageError(concat(what, " ", given, ": must be from 1 to ", most));
}

ModelOptions resolve(int64_t classes, int64_t imageSize, ModelOptions options) {
  options.classes = resolved(options.classes, classes, mostClasses, "classes");
  options.imageSize = resolved(options.imageSize, imageSize, largestImage, "image size");
  return options;
}

/// The network of a path that isNetworkPath().
Network networkAt(std::string_view path) {
  return isOnnxPath(path) ? openOnnxNetwork(std::string(path)) : openNetwork(std::string(path));
}

/// The file as it is for images of another size than its own: a model of ONNX may compute its nodes of the size.
NetworkFile inSize(std::string_view path, NetworkFile file, int64_t imageSize) {
  if (!isOnnxPath(path) || imageSize == file.input[1]) return file;
  try {
    return openOnnxNetwork(std::string(path), imageSize).file;
  } catch (const DataError& broken) {
    throw UsageError(concat("images of ", imageSize, " pixels: ", broken.what()));
  }
}

ModelFacts factsOf(const Network& network) {
  const NetworkFile& file = network.file;
  return {file.name,     {file.input[0], file.input[1], file.input[2]}, file.classes, file.batch, file.learningRate,
          network.sha256};
}

void setLoss(Graph& graph, const ModelOptions& options) {
  if (options.loss != nullptr) {
    if (graph.loss().head.empty())
      throw UsageError(concat("its loss is ", graph.loss().name, " and has no other head"));
    graph.setLoss(*options.loss);
  }
  const int64_t least = graph.loss().leastClasses;
  if (options.classes >= least) return;
  throw UsageError(concat("classes ", options.classes, ": ", graph.loss().name, " needs at least ", least));
}

}  // namespace

std::span<const ModelEntry> models() { return catalog; }

ModelFacts modelFacts(std::string_view model) {
  if (isNetworkPath(model)) return factsOf(networkAt(model));
  const ModelEntry& entry = find(models(), model, "--model");
  return {std::string(entry.name), entry.input, entry.classes, entry.batch, entry.learningRate, ""};
}

Graph buildModel(std::string_view model, const ModelOptions& options) {
  const bool isFile = isNetworkPath(model);
  const ModelEntry* const entry = isFile ? nullptr : &find(models(), model, "model");
  const NetworkFile file = isFile ? networkAt(model).file : NetworkFile();
  try {
    const ModelOptions resolved =
        isFile ? resolve(file.classes, file.input[1], options) : resolve(entry->classes, entry->input.height, options);
    Graph graph = isFile ? buildNetwork(inSize(model, file, resolved.imageSize), resolved.classes, resolved.imageSize)
                         : entry->build(*entry, resolved);
    setLoss(graph, resolved);
    return graph;
  } catch (const UsageError& broken) {
    throw UsageError(concat("model ", model, ": ", broken.what()));
  }
}

std::string modelText(std::string_view model) {
  if (isNetworkPath(model)) return networkText(networkAt(model).file);
  const ModelFacts facts = modelFacts(model);
  NetworkFile file = describeGraph(buildModel(model, {}), buildModel(model, {.classes = facts.classes + 1}));
  file.name = facts.name;
  file.classes = facts.classes;
  file.batch = facts.batch;
  file.learningRate = facts.learningRate;
  return networkText(file);
}

}  // namespace tandem

#include "models/model.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "base/catalog.h"
#include "base/error.h"
#include "golden/golden_file.h"
#include "support/typical_networks.h"

namespace tandem {
namespace {

/// What a network for `classes` gives for an image.
ImageShape outputFor(const Graph& graph, int64_t classes) {
  const int64_t coordinates = 4, defaultBoxes = 8732;
  return graph.loss().name == "multibox" ? ImageShape{coordinates + classes, defaultBoxes, 1}
                                         : ImageShape{classes, 1, 1};
}

class EveryModel : public testing::TestWithParam<std::string> {};

TEST_P(EveryModel, HasTheParametersAndFlopsOfItsRow) {
  const ModelEntry& entry = find(models(), GetParam(), "model");
  const Graph graph = buildModel(entry.name, {});
  EXPECT_EQ(graph.node(graph.input()).shape, entry.input);
  EXPECT_EQ(graph.node(graph.output()).shape, outputFor(graph, entry.classes));
  EXPECT_EQ(parameterCount(graph), entry.parameters);
  EXPECT_EQ(forwardFlops(graph), entry.forwardFlops);
}

TEST_P(EveryModel, HasTheFlopsThatPyTorchCountsInItsReference) {
  const nlohmann::json counted = goldenOf(GetParam()).at("flops");
  const Graph graph = buildModel(GetParam(), {});
  EXPECT_EQ(graph.node(graph.input()).shape.height, counted.at("imageSize")) << "tests/golden/flops.py: OWN";
  EXPECT_EQ(find(models(), GetParam(), "model").classes, counted.at("classes")) << "tests/golden/flops.py: OWN";
  EXPECT_EQ(forwardFlops(graph), counted.at("forward"));
  if (counted.contains("training")) {
    EXPECT_EQ(trainingFlops(graph), counted.at("training"));
  }
}

TEST_P(EveryModel, HasDifferentParameterNames) {
  std::set<std::string> names;
  for (const Parameter& parameter : buildModel(GetParam(), {}).parameters()) {
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
  }
  EXPECT_FALSE(names.empty());
}

TEST_P(EveryModel, TakesOtherClassesAndImages) {
  const int64_t size = GetParam() == "ssd300" ? 300 : 97;
  const Graph graph = buildModel(GetParam(), {.classes = 17, .imageSize = size});
  EXPECT_EQ(graph.node(graph.input()).shape, (ImageShape{3, size, size}));
  EXPECT_EQ(graph.node(graph.output()).shape, outputFor(graph, 17));
}

TEST_P(EveryModel, RefusesOptionsOutOfRange) {
  const std::string name = GetParam();
  EXPECT_THROW(buildModel(name, {.classes = -1}), UsageError);
  EXPECT_THROW(buildModel(name, {.imageSize = -1}), UsageError);
  EXPECT_THROW(buildModel(name, {.imageSize = 1'000'000'000}), UsageError);
}

INSTANTIATE_TEST_SUITE_P(Catalog, EveryModel, testing::ValuesIn(namesOf(models())),
                         [](const auto& row) { return row.param; });

TEST(TypicalNetworks, AreOfEveryFamily) {
  for (const ModelEntry& entry : models()) {
    const auto isOne = [&](const TypicalNetwork& network) { return sameFamily(network.model, entry); };
    EXPECT_TRUE(std::ranges::any_of(typicalNetworks, isOne))
        << entry.name << ": typicalNetworks[] has none of its family";
  }
}

TEST(Models, NamesDiffer) {
  std::set<std::string_view> names;
  for (const ModelEntry& entry : models()) EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
}

TEST(Models, HaveThePublishedParameterCounts) {
  const std::map<std::string_view, int64_t> published{{"resnet18", 11689512},        {"resnet34", 21797672},
                                                      {"resnet50", 25557032},        {"resnet101", 44549160},
                                                      {"resnet152", 60192808},       {"resnet50_v1", 25557032},
                                                      {"vgg16", 138357544},          {"alexnet", 61100840},
                                                      {"vgg11", 132863336},          {"vgg13", 133047848},
                                                      {"vgg19", 143667240},          {"googlenet", 13004888},
                                                      {"inception_v3", 27161264},    {"densenet121", 7978856},
                                                      {"densenet169", 14149480},     {"densenet201", 20013928},
                                                      {"mobilenet_v2", 3504872},     {"squeezenet1_0", 1248424},
                                                      {"squeezenet1_1", 1235496},    {"resnext50_32x4d", 25028904},
                                                      {"wide_resnet50_2", 68883240}, {"efficientnet_b0", 5288548},
                                                      {"regnet_y_3_2gf", 19436338},  {"regnet_y_4gf", 20646656},
                                                      {"convnext_tiny", 28589128},   {"vit_b_16", 86567656},
                                                      {"keras_cnn", 1250858},        {"inception_v4", 42679816},
                                                      {"nasnet_large", 88753150},    {"resnetv2_50", 25549352},
                                                      {"resnet9", 6573120},          {"resnet18_cifar", 11173962},
                                                      {"airbench94", 1971640},       {"mlp", 41157101}};
  for (const auto& [name, count] : published) EXPECT_EQ(parameterCount(buildModel(name, {})), count) << name;
}

TEST(Models, HaveTheTotalsThatKerasPrints) {
  const std::map<std::string_view, int64_t> totals{{"keras_resnet50", 25636712},
                                                   {"keras_inception_v3", 23851784},
                                                   {"nasnet_mobile", 5326716},
                                                   {"nasnet_large", 88949818}};
  const int64_t stepCounter = 1;
  for (const auto& [name, total] : totals) EXPECT_EQ(variableCount(buildModel(name, {})) - stepCounter, total) << name;
}

TEST(Models, KerasVariantsDifferAsTheirRowsSay) {
  const auto count = [](std::string_view name) { return parameterCount(buildModel(name, {})); };
  EXPECT_EQ(count("keras_resnet50") - count("resnet50_v1"), 26560);
  EXPECT_EQ(count("inception_v3") - count("keras_inception_v3"), 3326696 + 17216);
}

TEST(Models, NameAPaperOrAProject) {
  for (const ModelEntry& entry : models()) {
    EXPECT_TRUE(
        std::regex_search(std::string(entry.source),
                          std::regex("arXiv:[0-9]{4}\\.[0-9]{4,5}|tf_cnn_benchmarks|Keras|DAWNBench|[a-z]+/[A-Za-z]+")))
        << entry.name << ": " << entry.source;
  }
}

TEST(Models, HaveTensorFlowsVariableCountsWithElevenClasses) {
  const std::map<std::string_view, int64_t> counted{
      {"resnet20", 271164},   {"resnet32", 466492},       {"resnet44", 661820},       {"resnet56", 857148},
      {"resnet110", 1736124}, {"alexnet_cifar", 1756620}, {"densenet40_k12", 364772}, {"densenet100_k12", 2259652}};
  for (const auto& [name, count] : counted) {
    EXPECT_EQ(variableCount(buildModel(name, {.classes = 11})), count) << name;
  }
}

std::string refusal(std::string_view name, const ModelOptions& options) {
  try {
    buildModel(name, options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Models, RefuseImagesTooSmallForThem) {
  EXPECT_NE(refusal("alexnet", {.imageSize = 32}).find("node 'features.12'"), std::string::npos);
  EXPECT_NE(refusal("ssd300", {.imageSize = 512}).find("images of 300 pixels"), std::string::npos);
  EXPECT_NE(refusal("vgg16", {.imageSize = 16}).find("model vgg16: node 'features.30'"), std::string::npos);
}

TEST(Models, RefuseAnUnknownName) {
  EXPECT_NE(refusal("resnet5", {}).find("did you mean 'resnet50'"), std::string::npos) << refusal("resnet5", {});
}

TEST(Models, DropoutIsTheModelsOwnUnlessGiven) {
  const auto probabilities = [](const ModelOptions& options) {
    std::vector<double> all;
    const Graph graph = buildModel("vgg16", options);
    for (const Node& node : graph.nodes()) {
      if (node.name == "classifier.2" || node.name == "classifier.5") all.push_back(node.attributes.probability);
    }
    return all;
  };
  EXPECT_EQ(probabilities({}), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(probabilities({.dropout = 0}), (std::vector<double>{0, 0}));
}

TEST(Models, CifarPaddingIsTensorFlowsSame) {
  const auto padding = [](int64_t imageSize) {
    const Graph graph = buildModel("resnet20", {.imageSize = imageSize});
    for (const Node& node : graph.nodes()) {
      if (node.name == "layer2.0.conv1") return node.attributes.padding;
    }
    return Padding{};
  };
  EXPECT_EQ(padding(32), (Padding{0, 1, 0, 1}));
  EXPECT_EQ(padding(33), Padding::all(1));
}

}  // namespace
}  // namespace tandem

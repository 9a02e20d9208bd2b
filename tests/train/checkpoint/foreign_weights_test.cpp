#include "train/checkpoint/foreign_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/catalog.h"
#include "executor/golden_comparison.h"
#include "formats/weights/safetensors.h"
#include "formats/weights/weights_file.h"
#include "graph/state.h"
#include "models/model.h"
#include "support/tests_folder.h"
#include "train/checkpoint/torch_tensors.h"
#include "train/checkpoint/weight_loader.h"

namespace tandem {
namespace {

using Tensors = std::vector<std::pair<std::string, at::Tensor>>;

const WeightsMap& mapCalled(std::string_view name) { return find(weightsMaps(), name, "map"); }

Graph small(const std::string& model) { return buildModel(model, {.classes = 10}); }

/// What formula.h says of a network, by the names of the network; without tensors whose name starts with `without`.
Tensors formulaState(const Graph& graph, std::string_view without = "-") {
  Tensors tensors;
  for (const StateTensor& own : stateTensors(graph)) {
    const bool isBatchNorm = graph.node(own.node).operation->name == "batch_norm";
    if (own.name.starts_with(without)) continue;
    tensors.emplace_back(own.name, formulaTensor(own.name, own.shape, isBatchNorm));
  }
  return tensors;
}

/// A file of weights for as long as this lives.
class Written {
 public:
  Written(const std::string& name, const Tensors& tensors)
      : path_(concat(testing::TempDir(), "/tandem_foreign_", getpid(), "_", name, ".safetensors")) {
    std::vector<FileTensor> out;
    for (const auto& [key, values] : tensors) out.push_back(fileTensorOf(key, values));
    writeSafetensors(path_, std::move(out), {});
  }
  ~Written() { std::filesystem::remove(path_); }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Config configOf(const std::string& model, const std::string& weights, std::string_view map) {
  Config config;
  config.network.model = model;
  config.network.weights = weights;
  config.network.weightsMap = map;
  return config;
}

std::map<std::string, at::Tensor> byName(const Tensors& tensors) { return {tensors.begin(), tensors.end()}; }

void expectEqual(const Tensors& tensors, const Tensors& expected) {
  const auto values = byName(tensors);
  ASSERT_EQ(values.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    ASSERT_TRUE(values.contains(name)) << name;
    EXPECT_TRUE(at::equal(values.at(name), tensor)) << name;
  }
}

struct Foreign {
  std::string map, model;
};

void PrintTo(const Foreign& row, std::ostream* out) { *out << row.map << ' ' << row.model; }

class ForeignOrder : public testing::TestWithParam<Foreign> {};

/// Whether one with these shapes in this order was there before.
bool isKnown(const ForeignTensor& foreign, const std::vector<int64_t>& shape) {
  static std::set<std::vector<std::vector<int64_t>>> known;
  return !known.insert(std::vector<std::vector<int64_t>>{shape, foreign.shape, foreign.view, foreign.axes}).second;
}

/// For all tensors of a network, however large. Those that take long are looked at in the first network that has them.
TEST_P(ForeignOrder, IsTheInverseOfOwnOrder) {
  const Graph graph = buildModel(GetParam().model, {});
  const auto own = stateTensors(graph);
  const auto foreign = mapCalled(GetParam().map).of(GetParam().model, graph).tensors;
  for (size_t i = 0; i < own.size(); ++i) {
    const int64_t count = c10::multiply_integers(own[i].shape);
    if (count > 1'000'000 && isKnown(foreign[i], own[i].shape)) continue;
    const at::Tensor values = at::arange(count, at::kInt).view(own[i].shape);
    const at::Tensor there = inForeignOrder(foreign[i], values);
    EXPECT_EQ(there.sizes().vec(), foreign[i].shape) << foreign[i].name;
    EXPECT_TRUE(there.is_contiguous());
    EXPECT_TRUE(at::equal(inOwnOrder(foreign[i], there, own[i].shape), values)) << foreign[i].name;
  }
}

std::vector<Foreign> goldenNetworks() {
  std::vector<Foreign> all;
  for (const auto& file : std::filesystem::directory_iterator(testsFolder() + "/golden/names")) {
    const std::string name = file.path().stem().string();
    const size_t cut = name.find('_');
    all.push_back({name.substr(0, cut), name.substr(cut + 1)});
  }
  std::ranges::sort(all, {}, [](const Foreign& row) { return row.map + row.model; });
  return all;
}

const auto nameOfRow = [](const auto& row) { return concat(row.param.map, '_', row.param.model); };

INSTANTIATE_TEST_SUITE_P(Golden, ForeignOrder, testing::ValuesIn(goldenNetworks()), nameOfRow);

TEST(ForeignOrder, OfKerasIsRowsColumnsInputsOutputs) {
  const Graph graph = buildModel("vgg16", {.classes = 7});
  const auto own = stateTensors(graph);
  const auto foreign = mapCalled("keras").of("vgg16", graph).tensors;
  const at::Tensor kernel = at::randn(own[2].shape);  // [outputs, inputs, rows, columns]
  EXPECT_TRUE(at::equal(inForeignOrder(foreign[2], kernel), kernel.permute({2, 3, 1, 0})));
  ASSERT_EQ(foreign[26].name, "fc1/kernel");  // behind 512 channels of 7 x 7 pixels, whose channels come last there
  const at::Tensor dense = at::arange(4096 * 25088, at::kInt).view({4096, 25088});
  const at::Tensor there = inForeignOrder(foreign[26], dense);
  for (const auto& [row, column, channel, output] : {std::array{0, 1, 0, 0}, {6, 5, 4, 3}, {1, 0, 511, 4095}}) {
    EXPECT_EQ(there[(row * 7 + column) * 512 + channel][output].item<int>(),
              dense[output][channel * 49 + row * 7 + column].item<int>());
  }
}

class ForeignNetwork : public testing::TestWithParam<Foreign> {};

TEST_P(ForeignNetwork, GivesTheSameBitsBack) {
  const auto& [map, model] = GetParam();
  const Graph graph = small(model);
  const Tensors state = formulaState(graph);
  const ForeignWeights there =
      readForeign(mapCalled(map), configOf(model, Written("own", state).path(), "none"), graph);
  EXPECT_TRUE(there.warnings.empty());
  const Written file("theirs", there.tensors);
  expectEqual(readForeign(mapCalled("none"), configOf(model, file.path(), map), graph).tensors, state);
  const ForeignWeights again = readForeign(mapCalled(map), configOf(model, file.path(), map), graph);
  expectEqual(again.tensors, there.tensors);
}

INSTANTIATE_TEST_SUITE_P(Some, ForeignNetwork,
                         testing::Values(Foreign{"keras", "resnet50_v1"}, Foreign{"keras", "densenet121"},
                                         Foreign{"keras", "keras_resnet50"}, Foreign{"keras", "keras_inception_v3"},
                                         Foreign{"timm", "mobilenet_v2"}, Foreign{"timm", "efficientnet_b0"},
                                         Foreign{"timm", "regnet_y_3_2gf"}, Foreign{"timm", "convnext_tiny"},
                                         Foreign{"torchvision", "googlenet"}),
                         nameOfRow);

TEST(ForeignWeights, BiasesOfTheOtherNetworkAreZeros) {
  const Graph graph = small("resnet50_v1");
  const auto there = readForeign(mapCalled("keras"),
                                 configOf("resnet50_v1", Written("own", formulaState(graph)).path(), "none"), graph);
  const auto values = byName(there.tensors);
  EXPECT_TRUE(at::equal(values.at("conv2_block1_0_conv/bias"), at::zeros({256})));
  ASSERT_EQ(there.notes.size(), 1U);
  EXPECT_EQ(
      there.notes[0],
      "53 biases in front of batch-norm are written as zeros: the network of keras has them, resnet50_v1 does not");
}

TEST(ForeignWeights, VariancesTakeInTheDifferenceOfTheEpsilons) {
  const Graph graph = small("resnet50_v1");
  Tensors state = formulaState(graph);
  for (auto& [name, values] : state) {
    if (name == "bn1.running_var") values = at::arange(64, at::kFloat) * 1e-7F;
  }
  const auto there =
      readForeign(mapCalled("keras"), configOf("resnet50_v1", Written("small", state).path(), "none"), graph);
  const auto variances = byName(there.tensors).at("conv1_bn/moving_variance");
  EXPECT_NEAR(variances[2].item<float>(), 1.9e-7, 1e-12);
  const Written file("theirs", there.tensors);
  expectEqual(readForeign(mapCalled("none"), configOf("resnet50_v1", file.path(), "keras"), graph).tensors, state);
}

TEST(ForeignWeights, AuxiliaryHeadsThatOneSideLacksAreCounted) {
  const Graph graph = small("inception_v3");
  const Written whole("whole", formulaState(graph));
  const Written headless("headless", formulaState(graph, "AuxLogits."));
  const auto notes = [&](const std::string& file, std::string_view map) {
    const auto there = readForeign(mapCalled(map), configOf("inception_v3", file, "none"), graph);
    const bool hasHead = byName(there.tensors).contains("AuxLogits.fc.weight");
    return concat(hasHead ? "with head; " : "", join(there.notes));
  };
  EXPECT_EQ(notes(whole.path(), "torchvision"), "with head; ");
  EXPECT_EQ(notes(headless.path(), "torchvision"),
            "12 tensors of auxiliary heads are not written: the file lacks them");
  EXPECT_EQ(notes(whole.path(), "timm"),
            "12 tensors of auxiliary heads are not written: the network of timm lacks them");
}

TEST(ForeignWeights, OfAnotherFunctionAreWarnedOfOrRefused) {
  const Graph graph = small("inception_v3");
  Tensors state = formulaState(graph);
  const auto convert = [&] {
    return readForeign(mapCalled("keras"), configOf("inception_v3", Written("scaled", state).path(), "none"), graph);
  };
  try {
    convert();
    ADD_FAILURE() << "scales that Keras lacks were dropped";
  } catch (const CheckpointError& error) {
    EXPECT_NE(std::string(error.what()).find("'Conv2d_1a_3x3.bn.weight' of inception_v3 is not 1 everywhere"),
              std::string::npos)
        << error.what();
  }
  for (auto& [name, values] : state) {
    if (name.ends_with(".bn.weight")) values = at::ones_like(values);
  }
  const auto there = convert();
  ASSERT_EQ(there.warnings.size(), 1U);
  EXPECT_NE(there.warnings[0].find("weights of inception_v3 for keras: its average pools"), std::string::npos);
}

TEST(ForeignWeights, WhatTheFileHasBesidesIsSaid) {
  const Graph graph = small("resnet20");
  Tensors state = formulaState(graph);
  state.emplace_back("bn1.num_batches_tracked", at::zeros({}, at::kLong));
  const auto there = readForeign(mapCalled("none"), configOf("resnet20", Written("more", state).path(), "none"), graph);
  EXPECT_EQ(join(there.notes), "1 of the file's tensors are not written: no network uses them, as num_batches_tracked");
  EXPECT_EQ(there.tensors.size() + 1, state.size());
}

}  // namespace
}  // namespace tandem

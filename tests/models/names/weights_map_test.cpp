#include "models/names/weights_map.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/catalog.h"
#include "models/model.h"
#include "models/names/name_rules.h"
#include "support/tests_folder.h"

// tests/golden/names holds the tensors of other projects' own networks, written by tests/golden/make_names.py.
namespace tandem {
namespace {

namespace fs = std::filesystem;

TEST(NameRules, ReplaceGroupsAndCount) {
  constexpr NameRule rules[] = {{"^layer(\\d+)\\.(\\d+)", "stage$1-.block$2+"}, {"conv(\\d)$", "c$1"}, {"x", "y"}};
  EXPECT_EQ(renamed("layer3.9.conv2", rules), "stage2.block10.c2");
  EXPECT_EQ(renamed("a.layer3.9", rules), "a.layer3.9");
  EXPECT_EQ(renamed("", rules), "");
}

std::vector<std::string> nameLists() {
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(testsFolder() + "/golden/names")) {
    names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class ForeignNames : public testing::TestWithParam<std::string> {};

/// Every tensor of the other project is wanted under its name and shape, and nothing else is written for it.
TEST_P(ForeignNames, AreAllThere) {
  const size_t cut = GetParam().find('_');
  const std::string project = GetParam().substr(0, cut), model = GetParam().substr(cut + 1);
  std::ifstream file(concat(testsFolder(), "/golden/names/", GetParam(), ".json"));
  const auto theirs = nlohmann::json::parse(file).get<std::map<std::string, std::vector<int64_t>>>();
  const Graph graph = buildModel(model, {});
  const WeightsMap& map = find(weightsMaps(), project, "map");
  const ForeignState state = map.of(model, graph);
  const auto own = stateTensors(graph);
  ASSERT_EQ(state.tensors.size(), own.size());
  std::set<std::string> used;
  for (size_t i = 0; i < own.size(); ++i) {
    const ForeignTensor& foreign = state.tensors[i];
    if (!foreign.subtracted.empty()) {
      EXPECT_TRUE(theirs.contains(foreign.subtracted)) << foreign.subtracted;
      used.insert(foreign.subtracted);
    }
    const auto found = theirs.find(foreign.name);
    EXPECT_EQ(found == theirs.end(), foreign.ifMissing || foreign.absent) << own[i].name << ' ' << foreign.name;
    if (found == theirs.end()) continue;
    EXPECT_EQ(foreign.shape, found->second) << foreign.name;
    EXPECT_TRUE(used.insert(foreign.name).second) << foreign.name << " is wanted twice";
  }
  for (const auto& [name, shape] : theirs) {
    const bool leftOver = !map.leftOver.empty() && name.ends_with(map.leftOver);
    EXPECT_TRUE(leftOver || used.contains(name)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, ForeignNames, testing::ValuesIn(nameLists()),
                         [](const auto& row) { return row.param; });

TEST(WeightsMap, TorchvisionKnowsItsNetworksAlone) {
  for (const ModelEntry& entry : models()) {
    const bool isTheirs = entry.source.find("torchvision") != std::string_view::npos;
    const Graph graph = buildModel(entry.name, {});
    try {
      find(weightsMaps(), "torchvision", "map").of(entry.name, graph);
      EXPECT_TRUE(isTheirs) << entry.name;
    } catch (const UsageError& error) {
      EXPECT_FALSE(isTheirs) << error.what();
    }
  }
}

TEST(WeightsMap, NoneIsTheStateOfEveryModel) {
  for (const ModelEntry& entry : models()) {
    const Graph graph = buildModel(entry.name, {});
    const auto own = stateTensors(graph);
    const auto state = find(weightsMaps(), "none", "map").of(entry.name, graph);
    ASSERT_EQ(state.tensors.size(), own.size());
    for (size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(state.tensors[i].name, own[i].name);
      EXPECT_EQ(state.tensors[i].shape, own[i].shape);
    }
  }
}

TEST(WeightsMap, KerasMovesAxesAndFoldsWhatBatchNormAbsorbs) {
  const Graph graph = buildModel("resnet50_v1", {});
  const auto own = stateTensors(graph);
  const auto state = find(weightsMaps(), "keras", "map").of("resnet50_v1", graph);
  const auto foreignOf = [&](std::string_view name) {
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i].name == name) return state.tensors[i];
    }
    ADD_FAILURE() << name;
    return ForeignTensor();
  };
  EXPECT_EQ(foreignOf("conv1.weight").axes, (std::vector<int64_t>{3, 2, 0, 1}));
  EXPECT_EQ(foreignOf("layer2.0.bn1.running_mean").subtracted, "conv3_block1_1_conv/bias");
  EXPECT_NEAR(foreignOf("layer2.0.bn1.running_var").added, 1e-8, 1e-20);
  EXPECT_EQ(foreignOf("bn1.running_mean").subtracted, "conv1_conv/bias");
  EXPECT_EQ(foreignOf("fc.weight").view, (std::vector<int64_t>{1, 1, 2048, 1000}));
  const Graph biased = buildModel("keras_resnet50", {});
  for (const ForeignTensor& foreign : find(weightsMaps(), "keras", "map").of("keras_resnet50", biased).tensors) {
    EXPECT_EQ(foreign.subtracted, "") << foreign.name;
    EXPECT_EQ(foreign.added, 0) << foreign.name;
  }
  const Graph vgg = buildModel("vgg16", {});
  const auto ofVgg = find(weightsMaps(), "keras", "map").of("vgg16", vgg);
  EXPECT_EQ(ofVgg.tensors[26].name, "fc1/kernel");
  EXPECT_EQ(ofVgg.tensors[26].view, (std::vector<int64_t>{7, 7, 512, 4096}));
}

TEST(WeightsMap, RefusesModelsThatItDoesNotKnow) {
  const auto refusal = [](const char* map, const char* model) -> std::string {
    try {
      find(weightsMaps(), map, "map").of(model, buildModel(model, {}));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(refusal("keras", "resnet50").find("resnet50_v1"), std::string::npos);
  EXPECT_NE(refusal("keras", "alexnet").find("it knows keras_resnet50, resnet50_v1, densenet121"), std::string::npos);
  EXPECT_NE(refusal("timm", "alexnet").find("it knows resnet18"), std::string::npos);
}

}  // namespace
}  // namespace tandem

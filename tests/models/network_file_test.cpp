#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/catalog.h"
#include "graph/network.h"
#include "models/model.h"

namespace tandem {
namespace {

class EveryModelAsAFile : public testing::TestWithParam<std::string> {
 protected:
  /// The path of the model's file.
  static std::string fileOf(const std::string& model) {
    std::string path = testing::TempDir() + "network_file_test_" + model + ".json";
    std::ofstream(path) << modelText(model);
    return path;
  }
};

bool sameAttributes(const Attributes& a, const Attributes& b) {
  const auto tied = [](const Attributes& x) {
    return std::tie(x.outputs, x.first, x.dilationH, x.dilationW, x.kernelH, x.kernelW, x.strideH, x.strideW, x.groups,
                    x.bias, x.ceilMode, x.countPadding, x.scale, x.poolH, x.poolW, x.heads, x.epsilon, x.momentum,
                    x.radius, x.alpha, x.beta, x.probability);
  };
  return tied(a) == tied(b) && a.padding == b.padding;
}

void expectSame(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.nodes().size(), b.nodes().size());
  for (size_t i = 0; i < a.nodes().size(); ++i) {
    const Node &x = a.nodes()[i], &y = b.nodes()[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.operation, y.operation) << x.name;
    EXPECT_EQ(x.inputs, y.inputs) << x.name;
    EXPECT_EQ(x.shape, y.shape) << x.name;
    EXPECT_TRUE(sameAttributes(x.attributes, y.attributes)) << x.name;
  }
  EXPECT_EQ(&a.loss(), &b.loss());
  ASSERT_EQ(a.auxiliaries().size(), b.auxiliaries().size());
  for (size_t i = 0; i < a.auxiliaries().size(); ++i) {
    EXPECT_EQ(a.auxiliaries()[i].value, b.auxiliaries()[i].value);
    EXPECT_EQ(a.auxiliaries()[i].lossWeight, b.auxiliaries()[i].lossWeight);
  }
  EXPECT_EQ(parameterCount(a), parameterCount(b));
  EXPECT_EQ(forwardFlops(a), forwardFlops(b));
}

TEST_P(EveryModelAsAFile, IsTheSameGraph) {
  const std::string path = fileOf(GetParam());
  expectSame(buildModel(GetParam(), {}), buildModel(path, {}));
  const ModelFacts own = modelFacts(GetParam()), read = modelFacts(path);
  EXPECT_EQ(read.name, GetParam());
  EXPECT_EQ(read.input, own.input);
  EXPECT_EQ(read.classes, own.classes);
  EXPECT_EQ(read.batch, own.batch);
  EXPECT_EQ(read.learningRate, own.learningRate);
}

TEST_P(EveryModelAsAFile, TakesOtherClasses) {
  const std::string path = fileOf(GetParam());
  if (modelText(GetParam()).find(R"("outputs":"classes")") == std::string::npos) {
    EXPECT_EQ(GetParam(), "ssd300");  // a class is worth a score of several boxes
    EXPECT_THROW(buildModel(path, {.classes = 17}), UsageError);
    return;
  }
  expectSame(buildModel(GetParam(), {.classes = 17}), buildModel(path, {.classes = 17}));
}

TEST_P(EveryModelAsAFile, IsWrittenAsItWasRead) { EXPECT_EQ(modelText(fileOf(GetParam())), modelText(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Catalog, EveryModelAsAFile, testing::ValuesIn(namesOf(models())),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace tandem

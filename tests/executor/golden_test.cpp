#include "executor/golden_comparison.h"

namespace tandem::golden {
namespace {

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, EqualsItsReference) { GoldenModel(GetParam()).expectGolden(hasManyParameters(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Catalog, Golden, testing::ValuesIn(classifiers(/*quick=*/true)),
                         [](const auto& row) { return row.param; });

/// Of those that run in every way in long tests: what is typical of its family, and the others that are not large.
std::vector<std::string> others() {
  std::vector<std::string> names = classifiers(/*quick=*/false);
  std::erase_if(names, [](const std::string& name) {
    const ModelEntry& entry = find(models(), name, "model");
    return !isTypical(entry) && entry.parameters > mostQuickParameters;
  });
  return names;
}

class GoldenOther : public testing::TestWithParam<std::string> {};

// In evaluation the typical network stands for its family.
TEST_P(GoldenOther, EqualsItsReferenceInTheDefaultWay) {
  const bool evaluates = isTypical(find(models(), GetParam(), "model"));
  GoldenModel(GetParam()).expectGolden(find(executors(), "planned", "executor"), layouts().front(), evaluates);
}

INSTANTIATE_TEST_SUITE_P(Catalog, GoldenOther, testing::ValuesIn(others()), [](const auto& row) { return row.param; });

TEST(GoldenHead, OfInceptionV3EqualsItsReference) {
  const nlohmann::json head = goldenOf("inception_v3").at("head");
  const int64_t classes = goldenOf("inception_v3").at("classes"), size = head.at("imageSize");
  const Graph graph = buildModel("inception_v3", {.classes = classes, .imageSize = size, .dropout = 0});
  ModelSubject subject(graph, find(precisions(), "fp32", "precision"), find(executors(), "planned", "executor"),
                       layouts().front());
  const Batch batch = subject.batch(head.at("input"), {head.at("batch"), 3, size, size}, classes);
  EXPECT_NEAR(subject.pass(batch, [](auto) {}) / head.at("loss").get<double>(), 1, tolerance);
  expectGradients(subject.buffers(), head.at("gradients"), /*all=*/false);
}

}  // namespace
}  // namespace tandem::golden

#include "executor/golden_comparison.h"

namespace tandem::golden {
namespace {

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, EqualsItsReference) { GoldenModel(GetParam()).expectGolden(); }

INSTANTIATE_TEST_SUITE_P(Catalog, Golden, testing::ValuesIn(catalogModels(/*large=*/false)),
                         [](const auto& row) { return row.param; });

class GoldenLarge : public testing::TestWithParam<std::string> {};

TEST_P(GoldenLarge, EqualsItsReferenceInTheDefaultWay) {
  GoldenModel(GetParam()).expectGolden(find(executors(), "planned", "executor"), layouts().front());
}

INSTANTIATE_TEST_SUITE_P(Catalog, GoldenLarge, testing::ValuesIn(catalogModels(/*large=*/true)),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace tandem::golden

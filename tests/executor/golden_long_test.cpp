#include "executor/golden_comparison.h"

namespace tandem::golden {
namespace {

class LongGolden : public testing::TestWithParam<std::string> {};

TEST_P(LongGolden, EqualsItsReferenceInEveryWay) { GoldenModel(GetParam()).expectGolden(); }

INSTANTIATE_TEST_SUITE_P(Long, LongGolden, testing::ValuesIn(classifiers(/*quick=*/false)),
                         [](const auto& row) { return row.param; });
INSTANTIATE_TEST_SUITE_P(LongOfManyParameters, LongGolden, testing::ValuesIn(classifiersOfManyParameters()),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace tandem::golden

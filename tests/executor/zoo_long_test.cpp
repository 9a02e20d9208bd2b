#include "executor/zoo_comparison.h"

namespace tandem::zoo {
namespace {

class LongZoo : public testing::TestWithParam<Place> {};

TEST_P(LongZoo, PlannedLossAndGradientsAreAsNearToFp64AsAtens) {
  expectWaysAsNearAsAten(GetParam(), firstStep, Ways::all);
}

INSTANTIATE_TEST_SUITE_P(Long, LongZoo, testing::ValuesIn(everywhere(classifiers(/*quick=*/false))),
                         [](const auto& row) { return row.param.name(); });
INSTANTIATE_TEST_SUITE_P(LongOfManyParameters, LongZoo, testing::ValuesIn(onTheCpu(classifiersOfManyParameters())),
                         [](const auto& row) { return row.param.name(); });

class LongZooStatistics : public testing::TestWithParam<Place> {};

TEST_P(LongZooStatistics, AfterTenStepsAreAsNearToFp64AsAtens) {
  expectWaysAsNearAsAten(GetParam(), tenSteps, Ways::all);
}

INSTANTIATE_TEST_SUITE_P(Long, LongZooStatistics, testing::ValuesIn(everywhere(modelsWithStatistics(/*quick=*/false))),
                         [](const auto& row) { return row.param.name(); });

}  // namespace
}  // namespace tandem::zoo

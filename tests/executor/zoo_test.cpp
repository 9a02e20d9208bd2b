#include "executor/zoo_comparison.h"

namespace tandem::zoo {
namespace {

class Zoo : public testing::TestWithParam<Place> {};

TEST_P(Zoo, PlannedLossAndGradientsAreAsNearToFp64AsAtens) {
  expectWaysAsNearAsAten(GetParam(), firstStep, quickWays(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Catalog, Zoo, testing::ValuesIn(everywhere(classifiers(/*quick=*/true))),
                         [](const auto& row) { return row.param.name(); });

class ZooStatistics : public testing::TestWithParam<Place> {};

TEST_P(ZooStatistics, AfterTenStepsAreAsNearToFp64AsAtens) { expectWaysAsNearAsAten(GetParam(), tenSteps, Ways::all); }

INSTANTIATE_TEST_SUITE_P(Catalog, ZooStatistics, testing::ValuesIn(everywhere(modelsWithStatistics(/*quick=*/true))),
                         [](const auto& row) { return row.param.name(); });

}  // namespace
}  // namespace tandem::zoo

#include "executor/zoo_comparison.h"

namespace tandem::zoo {
namespace {

class LongZoo : public testing::TestWithParam<std::string> {};

TEST_P(LongZoo, PlannedLossAndGradientsAreAsNearToFp64AsAtens) { expectEveryWayAsNearAsAten(GetParam(), firstStep); }

INSTANTIATE_TEST_SUITE_P(Long, LongZoo, testing::ValuesIn(catalogModels(/*large=*/true)),
                         [](const auto& row) { return row.param; });

class LongZooStatistics : public testing::TestWithParam<std::string> {};

TEST_P(LongZooStatistics, AfterTenStepsAreAsNearToFp64AsAtens) { expectEveryWayAsNearAsAten(GetParam(), tenSteps); }

INSTANTIATE_TEST_SUITE_P(Long, LongZooStatistics, testing::ValuesIn(modelsWithStatistics(/*large=*/true)),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace tandem::zoo

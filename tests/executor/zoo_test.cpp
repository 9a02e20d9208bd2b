#include "executor/zoo_comparison.h"

namespace tandem::zoo {
namespace {

class Zoo : public testing::TestWithParam<std::string> {};

TEST_P(Zoo, PlannedLossAndGradientsAreAsNearToFp64AsAtens) { expectEveryWayAsNearAsAten(GetParam(), firstStep); }

INSTANTIATE_TEST_SUITE_P(Catalog, Zoo, testing::ValuesIn(catalogModels(/*large=*/false)),
                         [](const auto& row) { return row.param; });

class ZooStatistics : public testing::TestWithParam<std::string> {};

TEST_P(ZooStatistics, AfterTenStepsAreAsNearToFp64AsAtens) { expectEveryWayAsNearAsAten(GetParam(), tenSteps); }

INSTANTIATE_TEST_SUITE_P(Catalog, ZooStatistics, testing::ValuesIn(modelsWithStatistics(/*large=*/false)),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace tandem::zoo

#include "executor/zoo_comparison.h"

namespace tandem::zoo {
namespace {

class LongZooStatistics : public testing::TestWithParam<std::string> {};

TEST_P(LongZooStatistics, AfterTenStepsAreAsNearToFp64AsAtens) { expectEveryWayAsNearAsAten(GetParam(), tenSteps); }

INSTANTIATE_TEST_SUITE_P(Long, LongZooStatistics, testing::ValuesIn(modelsWithStatistics(/*large=*/true)),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace tandem::zoo

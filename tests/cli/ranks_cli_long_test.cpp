#include <gtest/gtest.h>

#include "compared_ranks.h"

namespace tandem {
namespace {

TEST(LongRanks, MakeOneTableWithReplicas) { expectOneTable("1,2,4", 6); }

TEST(LongRanks, OfTwoReplicasTrainTheSameBitsInOneProcessAndInTwo) { expectTheSameBitsInOneProcessAndInTwo("lenet5"); }

TEST(LongRanks, EveryStrategyAndAllReduceThatCrossesThemGivesAllTheSameWeights) {
  expectEqualWeights({"--all-reduce=owner,shared,copy,ring,tree,halving_doubling,hierarchical"}, 7);
  expectEqualWeights({"--strategy=parameter_server", "--server-ranks=0,1"}, 2);
  expectEqualWeights({"--strategy=local_sgd", "--sync-every=2", "--block-momentum=0,0.5"}, 2);
  expectEqualWeights({"--strategy=compressed", "--compression=powersgd,onebit,topk"}, 3);
}

}  // namespace
}  // namespace tandem

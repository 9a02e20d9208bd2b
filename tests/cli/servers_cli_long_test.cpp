#include <gtest/gtest.h>

#include "servers_of_ranks.h"

namespace tandem {
namespace {

TEST(LongServers, OfTwoRanksTrainTheBitsOfOneProcess) { expectTheBitsOfOneProcess("0,1", "1,2"); }

TEST(LongServers, ThatOnlyServeHaveNoReplicas) {
  expectReplicasOfRanksAlone({"--servers=1,2", "--server-mode=sync,async", "--precision=fp32,fp16"}, 8);
}

}  // namespace
}  // namespace tandem

#include "comm/rank_roles.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "base/error.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

using Set = std::map<std::string, std::string>;

std::optional<RoledRank> rankOf(const RankRoles& roles, const Set& set = {}) {
  return rankPlaceFromRoles(roles, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

constexpr const char *twoWorkers = "node1:2222,node2:2222", *twoServers = "node1:2223,node3:2222";

TEST(RankRoles, WorkersAreTheFirstRanksAndServersThoseBehind) {
  const auto worker = rankOf({"worker:1", -1, twoWorkers, twoServers}).value();
  EXPECT_EQ(worker.workers, 2);
  EXPECT_EQ(worker.servers, 2);
  EXPECT_EQ(worker.place.rank, 1);
  EXPECT_EQ(worker.place.size, 4);
  EXPECT_EQ(worker.place.localRank, 0);
  EXPECT_EQ(worker.place.localSize, 1);
  EXPECT_EQ(worker.place.host, "node1");
  EXPECT_EQ(worker.place.port, 2222);
  const auto server = rankOf({"ps", 0, twoWorkers, twoServers}).value();
  EXPECT_EQ(server.place.rank, 2);
  EXPECT_EQ(server.place.localRank, 1) << "behind worker 0 on its host";
  EXPECT_EQ(server.place.localSize, 2);
  EXPECT_EQ(server.place.run, worker.place.run);
  EXPECT_NE(server.place.run, rankOf({"ps", 0, twoWorkers, "node1:2223"})->place.run);
}

TEST(RankRoles, TheNumberStandsInTheJobOrBesideItOrIsZero) {
  EXPECT_EQ(rankOf({"worker:1", -1, twoWorkers, ""})->place, rankOf({"worker", 1, twoWorkers, ""})->place);
  EXPECT_EQ(rankOf({"worker:0", -1, twoWorkers, ""})->place, rankOf({"worker", -1, twoWorkers, ""})->place);
}

TEST(RankRoles, AddressesOfLoopbackAreOneHost) {
  const auto server =
      rankOf({"ps:0", -1, "localhost:2222,127.0.0.1:2223", "[::1]:2224"}, {{"GLOO_SOCKET_IFNAME", "lo"}});
  EXPECT_EQ(server->place.host, "127.0.0.1");
  EXPECT_EQ(server->place.localSize, 3);
  EXPECT_EQ(server->place.localRank, 2);
  EXPECT_EQ(server->place.interface, "lo");
}

TEST(RankRoles, WithoutARoleThereIsNone) {
  EXPECT_FALSE(rankOf({}));
  EXPECT_FALSE(rankOf({}, {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "1"}}));
}

TEST(RankRoles, WhatContradictsItselfIsRefusedInOneLine) {
  const std::tuple<RankRoles, Set, const char*> cases[] = {
      {{"worker:2", -1, twoWorkers, twoServers},
       {},
       "--job=worker:2: --worker-hosts has 2 addresses, and numbers count from 0"},
      {{"ps", 1, twoWorkers, "a:1"}, {}, "--job=ps --task-index=1: --ps-hosts has 1 address"},
      {{"ps:0", -1, twoWorkers, ""}, {}, "--job=ps:0: --ps-hosts has 0 addresses"},
      {{"worker:0", 0, twoWorkers, ""}, {}, "both say the number of this process; leave --task-index away"},
      {{"chief:0", -1, twoWorkers, ""}, {}, "--job=chief:0: a process is a worker, which trains, or a ps"},
      {{"worker:x", -1, twoWorkers, ""}, {}, "behind the colon stands a number from 0, as worker:0"},
      {{"worker:", -1, twoWorkers, ""}, {}, "behind the colon stands a number from 0"},
      {{"worker:0", -1, "", twoServers}, {}, "needs --worker-hosts"},
      {{"", -1, twoWorkers, ""}, {}, "--worker-hosts and --ps-hosts need --job"},
      {{"", 1, "", ""}, {}, "--task-index needs --job"},
      {{"worker:0", -1, "node1", ""}, {}, "--worker-hosts: 'node1' is no address"},
      {{"worker:0", -1, "node1:70000", ""}, {}, "'node1:70000' is no address"},
      {{"worker:0", -1, ":22", ""}, {}, "':22' is no address"},
      {{"worker:0", -1, "node1:1,", ""}, {}, "'' is no address"},
      {{"worker:0", -1, "node1:1", "node1:1"}, {}, "node1:1 is there twice"},
      {{"worker:0", -1, "localhost:1,127.0.0.1:1", ""}, {}, "127.0.0.1:1 is there twice"},
      {{"worker:0", -1, twoWorkers, ""},
       {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "1"}},
       "with a launcher (RANK and WORLD_SIZE), which gives this process a place too"}};
  for (const auto& [roles, set, part] : cases) {
    const std::string text = textOfFailure<UsageError>([&] { rankOf(roles, set); });
    EXPECT_NE(text.find(part), std::string::npos) << text << "; wanted: " << part;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tandem

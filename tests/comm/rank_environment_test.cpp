#include "comm/rank_environment.h"

#include <gtest/gtest.h>

#include <ostream>

#include "base/error.h"
#include "comm/slurm_lists.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

using Set = std::map<std::string, std::string>;

std::optional<LaunchedRank> rankIn(const Set& set) {
  return rankPlaceFromEnvironment([&](const std::string& name) -> std::optional<std::string> {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

/// `base` with the variables of `changes`; an empty value unsets.
Set with(Set base, const Set& changes) {
  for (const auto& [name, value] : changes) {
    base[name] = value;
    if (value.empty()) base.erase(name);
  }
  return base;
}

/// What torchrun sets for the last of four ranks on two hosts.
const Set torchrun{{"RANK", "3"},
                   {"WORLD_SIZE", "4"},
                   {"LOCAL_RANK", "1"},
                   {"LOCAL_WORLD_SIZE", "2"},
                   {"MASTER_ADDR", "node1"},
                   {"MASTER_PORT", "29500"},
                   {"TORCHELASTIC_RUN_ID", "job7"},
                   {"TORCHELASTIC_RESTART_COUNT", "0"},
                   {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
const Set openMpiHere{{"OMPI_COMM_WORLD_RANK", "1"},
                      {"OMPI_COMM_WORLD_SIZE", "2"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                      {"PMIX_NAMESPACE", "prterun-node1-4711@1"}};
const Set openMpiOnTwo = with(openMpiHere, {{"OMPI_COMM_WORLD_SIZE", "4"}});
/// The sixth of seven tasks on four nodes.
const Set slurm{{"SLURM_PROCID", "5"},
                {"SLURM_STEP_NUM_TASKS", "7"},
                {"SLURM_NTASKS", "7"},
                {"SLURM_LOCALID", "1"},
                {"SLURM_NODEID", "2"},
                {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"},
                {"SLURM_STEP_NODELIST", "node[01-03,7]"},
                {"SLURM_JOB_ID", "4242"},
                {"SLURM_STEP_ID", "0"}};
/// In a script of sbatch with four tasks.
const Set sbatch{{"SLURM_PROCID", "0"},   {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "0"},
                 {"SLURM_NODEID", "0"},   {"SLURM_JOB_ID", "9"}, {"SLURM_TASKS_PER_NODE", "2(x2)"},
                 {"SLURM_NODELIST", "n1"}};
const Set byHand{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "10.0.0.1"}, {"MASTER_PORT", "4000"}};

struct Found {
  const char* what;
  Set set;
  const char* launcher;
  RankPlace place;
  bool launcherServes = false;
  friend std::ostream& operator<<(std::ostream& out, const Found& found) { return out << found.what; }
};

class RankEnvironment : public testing::TestWithParam<Found> {};

TEST_P(RankEnvironment, GivesThePlace) {
  const Found& expected = GetParam();
  const auto found = rankIn(expected.set);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->launcher, expected.launcher);
  EXPECT_EQ(found->launcherServes, expected.launcherServes);
  const RankPlace &place = found->place, &wanted = expected.place;
  EXPECT_EQ(place.rank, wanted.rank);
  EXPECT_EQ(place.size, wanted.size);
  EXPECT_EQ(place.localRank, wanted.localRank);
  EXPECT_EQ(place.localSize, wanted.localSize);
  EXPECT_EQ(place.host, wanted.host);
  EXPECT_EQ(place.run, wanted.run);
  EXPECT_EQ(place.interface, wanted.interface);
  if (wanted.port != 0) {
    EXPECT_EQ(place.port, wanted.port);
  } else {
    EXPECT_GE(place.port, 16384);
    EXPECT_LT(place.port, 32768);
  }
}

const RankPlace third{
    .rank = 3, .size = 4, .localRank = 1, .localSize = 2, .host = "node1", .port = 29500, .run = "job7"};
const RankPlace second{.rank = 1, .size = 2, .localRank = 1, .localSize = 2, .run = "mpi prterun-node1-4711@1"};
const RankPlace sixth{.rank = 5, .size = 7, .localRank = 1, .localSize = 2, .host = "node01", .run = "slurm 4242.0"};

RankPlace changed(RankPlace place, const std::function<void(RankPlace&)>& change) {
  change(place);
  return place;
}

INSTANTIATE_TEST_SUITE_P(
    Torchrun, RankEnvironment,
    testing::Values(Found{"its store", torchrun, "torchrun", third, true},
                    Found{"rank 0 serves", with(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}}), "torchrun",
                          third},
                    Found{"a restart is another run", with(torchrun, {{"TORCHELASTIC_RESTART_COUNT", "2"}}), "torchrun",
                          changed(third, [](RankPlace& place) { place.run = "job7 restart 2"; }), true},
                    Found{"an interface", with(torchrun, {{"GLOO_SOCKET_IFNAME", "eth1"}}), "torchrun",
                          changed(third, [](RankPlace& place) { place.interface = "eth1"; }), true},
                    Found{"in a step of Slurm", with(slurm, torchrun), "torchrun", third, true},
                    Found{"below mpirun", with(openMpiOnTwo, torchrun), "torchrun", third, true},
                    Found{"by launch", with(torchrun, {{"TORCHELASTIC_RUN_ID", "tandem-1"}}), "tandem launch",
                          changed(third, [](RankPlace& place) { place.run = "tandem-1"; }), true}));

INSTANTIATE_TEST_SUITE_P(
    OpenMpi, RankEnvironment,
    testing::Values(Found{"on this host", openMpiHere, "Open MPI", second},
                    Found{"version 4", with(openMpiHere, {{"PMIX_NAMESPACE", ""}, {"OMPI_MCA_ess_base_jobid", "99"}}),
                          "Open MPI", changed(second, [](RankPlace& place) { place.run = "mpi 99"; })},
                    Found{"on two hosts", with(openMpiOnTwo, {{"MASTER_ADDR", "n1"}}), "Open MPI",
                          changed(second, [](RankPlace& place) { place.size = 4, place.host = "n1"; })},
                    Found{"a port", with(openMpiHere, {{"MASTER_PORT", "1234"}}), "Open MPI",
                          changed(second, [](RankPlace& place) { place.port = 1234; })},
                    Found{"whose daemons are a step of Slurm", with(slurm, openMpiHere), "Open MPI", second},
                    Found{"with the same RANK", with(openMpiHere, {{"RANK", "1"}, {"WORLD_SIZE", "2"}}), "Open MPI",
                          second}));

INSTANTIATE_TEST_SUITE_P(
    Slurm, RankEnvironment,
    testing::Values(
        Found{"a step", slurm, "Slurm", sixth},
        Found{"an older one", with(slurm, {{"SLURM_STEP_NUM_TASKS", ""}, {"SLURM_STEP_ID", ""}, {"SLURM_STEPID", "0"}}),
              "Slurm", sixth},
        Found{"the last node", with(slurm, {{"SLURM_PROCID", "6"}, {"SLURM_LOCALID", "0"}, {"SLURM_NODEID", "3"}}),
              "Slurm",
              changed(sixth, [](RankPlace& place) { place.rank = 6, place.localRank = 0, place.localSize = 1; })},
        Found{"one node meets on loopback",
              with(slurm, {{"SLURM_STEP_TASKS_PER_NODE", "7"}, {"SLURM_NODEID", "0"}, {"SLURM_LOCALID", "5"}}), "Slurm",
              changed(sixth,
                      [](RankPlace& place) { place.localRank = 5, place.localSize = 7, place.host = "127.0.0.1"; })},
        Found{"an address", with(slurm, {{"MASTER_ADDR", "head"}, {"MASTER_PORT", "5000"}}), "Slurm",
              changed(sixth, [](RankPlace& place) { place.host = "head", place.port = 5000; })},
        Found{"WORLD_SIZE of the script", with(slurm, {{"WORLD_SIZE", "7"}}), "Slurm", sixth}));

INSTANTIATE_TEST_SUITE_P(
    Hand, RankEnvironment,
    testing::Values(Found{"alone on its host",
                          with(byHand, {{"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "1"}}),
                          "RANK and WORLD_SIZE",
                          {.rank = 1, .size = 2, .host = "10.0.0.1", .port = 4000}},
                    Found{"on loopback",
                          with(byHand, {{"MASTER_ADDR", "localhost"}}),
                          "RANK and WORLD_SIZE",
                          {.rank = 1, .size = 2, .localRank = 1, .localSize = 2, .host = "localhost", .port = 4000}},
                    Found{"in a step of one task",
                          with(with(slurm, {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}}),
                               with(byHand, {{"MASTER_ADDR", "127.0.0.2"}})),
                          "RANK and WORLD_SIZE",
                          {.rank = 1, .size = 2, .localRank = 1, .localSize = 2, .host = "127.0.0.2", .port = 4000}}));

struct Alone {
  const char* what;
  Set set;
  friend std::ostream& operator<<(std::ostream& out, const Alone& alone) { return out << alone.what; }
};

class NoRankEnvironment : public testing::TestWithParam<Alone> {};

TEST_P(NoRankEnvironment, IsNoPlace) { EXPECT_FALSE(rankIn(GetParam().set).has_value()); }

INSTANTIATE_TEST_SUITE_P(
    All, NoRankEnvironment,
    testing::Values(Alone{"nothing", {}}, Alone{"a place to meet alone", {{"MASTER_ADDR", "n1"}, {"MASTER_PORT", "1"}}},
                    Alone{"a script of sbatch", sbatch},
                    Alone{"its step", with(sbatch, {{"SLURM_STEP_ID", "4294967291"}})},
                    Alone{"a shell of salloc", with(sbatch, {{"SLURM_STEP_ID", "4294967290"}})},
                    Alone{"a step of one task", with(sbatch, {{"SLURM_STEP_ID", "1"}, {"SLURM_NTASKS", "1"}})},
                    Alone{"mpirun -n 1 in a step of several", with(slurm, {{"OMPI_COMM_WORLD_RANK", "0"},
                                                                           {"OMPI_COMM_WORLD_SIZE", "1"},
                                                                           {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                                                                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}})},
                    Alone{"torchrun of one in a step of several", with(slurm, {{"RANK", "0"},
                                                                               {"WORLD_SIZE", "1"},
                                                                               {"LOCAL_RANK", "0"},
                                                                               {"LOCAL_WORLD_SIZE", "1"},
                                                                               {"TORCHELASTIC_RUN_ID", "none"}})},
                    Alone{"WORLD_SIZE of 1", {{"RANK", "0"}, {"WORLD_SIZE", "1"}}},
                    Alone{"empty texts", {{"RANK", ""}, {"WORLD_SIZE", ""}}}));

struct Refused {
  Set set;
  std::vector<std::string> says;
  friend std::ostream& operator<<(std::ostream& out, const Refused& refused) { return out << refused.says.front(); }
};

class BadRankEnvironment : public testing::TestWithParam<Refused> {};

TEST_P(BadRankEnvironment, IsRefusedInOneLine) {
  const std::string text = textOfFailure<UsageError>([] { rankIn(GetParam().set); });
  EXPECT_EQ(text.find('\n'), std::string::npos);
  for (const std::string& part : GetParam().says) EXPECT_NE(text.find(part), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Numbers, BadRankEnvironment,
    testing::Values(
        Refused{with(torchrun, {{"RANK", "4"}}), {"RANK=4, WORLD_SIZE=4", "must be below", "unset"}},
        Refused{with(torchrun, {{"LOCAL_RANK", "2"}}),
                {"LOCAL_RANK=2, LOCAL_WORLD_SIZE=2: a rank on its host must be"}},
        Refused{with(torchrun, {{"LOCAL_WORLD_SIZE", "5"}}), {"LOCAL_WORLD_SIZE=5: a host cannot have more"}},
        Refused{with(torchrun, {{"RANK", "-1"}}), {"RANK=-1: must be a whole number from 0 to 999999"}},
        Refused{with(torchrun, {{"RANK", "1x"}}), {"RANK=1x: must be a whole number"}},
        Refused{with(torchrun, {{"WORLD_SIZE", "0"}}), {"WORLD_SIZE=0: must be a whole number from 1"}},
        Refused{with(torchrun, {{"MASTER_PORT", "65536"}}),
                {"MASTER_PORT=65536: must be a whole number from 1 to 65535"}},
        Refused{with(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "1"}}), {"=1: must be True or False"}},
        Refused{with(slurm, {{"SLURM_STEP_ID", "x"}}), {"SLURM_STEP_ID=x: must be the number of a step"}},
        Refused{with(slurm, {{"SLURM_STEP_TASKS_PER_NODE", "2(y3)"}}), {"=2(y3): must be the tasks of each node"}},
        Refused{with(slurm, {{"SLURM_STEP_NODELIST", "node[a]"}}), {"=node[a]: must be a list of hosts"}}));

INSTANTIATE_TEST_SUITE_P(
    Missing, BadRankEnvironment,
    testing::Values(
        Refused{{{"RANK", "1"}}, {"RANK=1, WORLD_SIZE unset: both must be set", "or unset RANK"}},
        Refused{{{"WORLD_SIZE", "4"}}, {"RANK unset, WORLD_SIZE=4", "or unset WORLD_SIZE"}},
        Refused{{{"LOCAL_RANK", "0"}}, {"RANK unset, WORLD_SIZE unset", "or unset LOCAL_RANK"}},
        Refused{with(torchrun, {{"LOCAL_RANK", ""}}), {"LOCAL_RANK unset", "all four must be set"}},
        Refused{with(torchrun, {{"MASTER_PORT", ""}}), {"MASTER_PORT unset: ranks need a port", "set MASTER_PORT"}},
        Refused{with(torchrun, {{"MASTER_ADDR", ""}}), {"MASTER_ADDR unset: 4 ranks on several hosts, 2 of them here"}},
        Refused{openMpiOnTwo, {"MASTER_ADDR unset", "the address of the host of rank 0"}},
        Refused{with(openMpiHere, {{"PMIX_NAMESPACE", ""}}), {"MASTER_PORT unset: ranks need a port"}},
        Refused{with(openMpiHere, {{"OMPI_COMM_WORLD_SIZE", ""}}), {"OMPI_COMM_WORLD_SIZE unset", "all four"}},
        Refused{with(slurm, {{"SLURM_PROCID", ""}}), {"SLURM_PROCID unset: it is needed"}},
        Refused{with(slurm, {{"SLURM_LOCALID", ""}}), {"SLURM_LOCALID unset", "sets all of them"}},
        Refused{with(slurm, {{"SLURM_JOB_ID", ""}}), {"SLURM_STEP_ID=0: a step belongs to a job"}},
        Refused{byHand, {"LOCAL_RANK unset", "set LOCAL_RANK and LOCAL_WORLD_SIZE; they are 0 and 1"}}));

INSTANTIATE_TEST_SUITE_P(
    Contradictions, BadRankEnvironment,
    testing::Values(
        Refused{with(openMpiHere, {{"RANK", "0"}, {"WORLD_SIZE", "2"}}),
                {"RANK=0, OMPI_COMM_WORLD_RANK=1", "disagree on RANK, which is 1 by the second"}},
        Refused{with(slurm, {{"WORLD_SIZE", "8"}}), {"WORLD_SIZE=8, SLURM_PROCID=5", "disagree on WORLD_SIZE"}},
        Refused{with(slurm, {{"SLURM_PROCID", "7"}}), {"SLURM_PROCID=7", "must be below"}},
        Refused{with(slurm, {{"SLURM_LOCALID", "2"}}), {"SLURM_LOCALID=2", "a rank on its host must be below"}},
        Refused{with(slurm, {{"SLURM_NODEID", "4"}}), {"SLURM_NODEID=4", "this node is none of 4"}},
        Refused{with(slurm, {{"SLURM_STEP_TASKS_PER_NODE", "2(x4)"}}), {"the tasks of all nodes are 8, not 7"}}));

TEST(RankEnvironmentOf, ALaunchedRankIsReadBack) {
  const RankPlace place{.rank = 1, .size = 3, .localRank = 1, .localSize = 3, .port = 4711, .run = "tandem-ab"};
  const auto found = rankIn(variablesOfRank(place));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->launcher, "tandem launch");
  EXPECT_TRUE(found->launcherServes);
  EXPECT_EQ(found->place.rank, place.rank);
  EXPECT_EQ(found->place.size, place.size);
  EXPECT_EQ(found->place.localRank, place.localRank);
  EXPECT_EQ(found->place.localSize, place.localSize);
  EXPECT_EQ(found->place.host, place.host);
  EXPECT_EQ(found->place.port, place.port);
  EXPECT_EQ(found->place.run, place.run);
}

TEST(RankEnvironmentOf, AllRanksOfAJobDeriveOnePortAndOtherJobsOthers) {
  const auto portOf = [](const Set& set) { return rankIn(set)->place.port; };
  const int port = portOf(slurm);
  EXPECT_EQ(portOf(with(slurm, {{"SLURM_PROCID", "0"}, {"SLURM_NODEID", "0"}, {"SLURM_LOCALID", "0"}})), port);
  EXPECT_NE(portOf(with(slurm, {{"SLURM_STEP_ID", "1"}})), port);
  EXPECT_NE(portOf(with(slurm, {{"SLURM_JOB_ID", "4243"}})), port);
}

TEST(SlurmLists, FirstHostIsSpelledOut) {
  const std::pair<const char*, const char*> cases[] = {{"node7", "node7"},
                                                       {"a,b", "a"},
                                                       {"node[01-04,7],x", "node01"},
                                                       {"gpu[3]-ib.site", "gpu3-ib.site"},
                                                       {"r[1-2]n[05,6]", "r1n05"},
                                                       {"node[01", ""},
                                                       {"node[]", ""},
                                                       {"", ""},
                                                       {"no de", ""},
                                                       {"n[1-2],m", "n1"}};
  for (const auto& [list, first] : cases) EXPECT_EQ(firstHost(list), first) << list;
}

TEST(SlurmLists, TasksThatAreNoneAreNothing) {
  for (const char* const list : {"", "0", "2(x0)", "2(x)", "2(3)", "(x3)", "2,", "1000001", "2(x3"}) {
    EXPECT_TRUE(tasksPerNode(list).empty()) << list;
  }
}

}  // namespace
}  // namespace tandem

#include "run/plan/rules.h"

#include <gtest/gtest.h>

#include "config/command_line.h"
#include "config/example_catalogs.h"

namespace tandem {
namespace {

using Texts = std::vector<std::string>;

std::string refusal(const Texts& arguments) {
  const Sweep sweep = parseArguments("bench", arguments, exampleCatalogs());
  return usageErrorOf([&] { checkSetup(sweep.base, setupOf(sweep.base)); });
}

void expectRefused(const Texts& arguments, const std::string& part) {
  EXPECT_NE(refusal(arguments).find(part), std::string::npos) << join(arguments, " ") << ": " << refusal(arguments);
}

TEST(Rules, OnlyAnExchangeOverlaps) {
  expectRefused({"--overlap=off", "--strategy=independent"}, "--overlap=off does nothing with --strategy=independent");
  expectRefused({"--overlap=off", "--strategy=local_sgd"}, "which exchanges no gradients");
  expectRefused({"--overlap=off", "--forward-only"}, "--overlap=off with --forward-only");
  EXPECT_EQ(refusal({"--overlap=on", "--strategy=independent", "--forward-only"}), "accepted");
  for (const char* strategy : {"replicated", "parameter_server", "compressed"}) {
    EXPECT_EQ(refusal({"--overlap=off", concat("--strategy=", strategy)}), "accepted") << strategy;
  }
}

TEST(Rules, WithoutBackwardNoGradientIsRounded) {
  expectRefused({"--gradient-precision=bf16", "--forward-only"}, "without backward there are no gradients");
  EXPECT_EQ(refusal({"--gradient-precision=bf16"}), "accepted");
  EXPECT_EQ(refusal({"--gradient-precision=auto", "--forward-only"}), "accepted");
}

TEST(Rules, StatisticsAreJoinedByReplicasThatMakeOneUpdate) {
  for (const char* strategy : {"independent", "local_sgd"}) {
    expectRefused({"--sync-batch-norm", concat("--strategy=", strategy)}, "its replicas train alone");
  }
  for (const char* strategy : {"replicated", "parameter_server", "compressed"}) {
    EXPECT_EQ(refusal({"--sync-batch-norm", concat("--strategy=", strategy)}), "accepted") << strategy;
  }
}

TEST(Rules, ASearchedBatchIsPerReplica) {
  expectRefused({"--batch=max", "--scaling=strong"}, "use --scaling=weak, or give a number");
  EXPECT_EQ(refusal({"--batch=max"}), "accepted");
  EXPECT_EQ(refusal({"--batch=32", "--scaling=strong"}), "accepted");
}

TEST(Rules, AllReduceFitsTheDevices) {
  expectRefused({"--all-reduce=nccl"},
                "those that do: --all-reduce=owner, shared, copy, ring, tree, halving_doubling and hierarchical");
  EXPECT_EQ(refusal({"--all-reduce=nccl", "--devices=cuda:0+1"}), "accepted");
  EXPECT_EQ(refusal({"--all-reduce=copy", "--devices=cuda:0+1"}), "accepted");
  EXPECT_EQ(refusal({"--strategy=parameter_server", "--devices=cuda:0"}), "accepted");
  expectRefused({"--all-reduce=copy", "--devices=cuda:0", "--ranks=2"}, "between ranks' GPUs: --all-reduce=nccl");
  EXPECT_EQ(refusal({"--devices=cuda:0", "--ranks=2"}), "accepted");
}

TEST(Rules, AllReducesBySizeAllFit) {
  EXPECT_EQ(refusal({"--all-reduce=tree:32k:ring"}), "accepted");
  EXPECT_EQ(refusal({"--all-reduce=tree:32k:nccl", "--devices=cuda:0+1"}), "accepted");
  expectRefused({"--all-reduce=tree:32k:nccl"}, "--all-reduce=tree:32k:nccl with --devices=auto: this algorithm");
  expectRefused({"--all-reduce=ring:32k:owner"}, "owners update for all");
  expectRefused({"--all-reduce=owner:32k:ring"}, "those by size: --all-reduce=shared, copy, ring");
  expectRefused({"--all-reduce=ring:32k:owner", "--strategy=local_sgd"}, "each replica updates its own weights");
  expectRefused({"--all-reduce=tree:32k:nccl", "--devices=cuda:0", "--ranks=2"}, "between ranks' GPUs");
}

TEST(Rules, OwnersUpdateOnlyWhereWeightsAreTheSame) {
  for (const char* strategy : {"compressed", "local_sgd"}) {
    expectRefused({"--all-reduce=owner", concat("--strategy=", strategy)}, "each replica updates its own weights");
    EXPECT_EQ(refusal({"--all-reduce=ring", concat("--strategy=", strategy)}), "accepted");
    EXPECT_EQ(refusal({concat("--strategy=", strategy)}), "accepted") << "auto is another";
  }
}

TEST(Rules, ParameterDeviceNamesAReplica) {
  const std::string server = "--strategy=parameter_server";
  expectRefused({server, "--parameter-device=cpu:2", "--replicas=2"}, "no device of this run");
  expectRefused({server, "--parameter-device=cuda:0"}, "no device of this run");
  expectRefused({server, "--parameter-device=cuda:1", "--devices=cuda:0+2"}, "no device of this run");
  expectRefused({server, "--parameter-device=cpu:0", "--devices=cuda:0+2"}, "no device of this run");
  EXPECT_EQ(refusal({server, "--parameter-device=cpu:1", "--replicas=2"}), "accepted");
  EXPECT_EQ(refusal({server, "--parameter-device=cuda:2", "--devices=cuda:0+2"}), "accepted");
}

TEST(Rules, TrainingOptionsFitTogether) {
  expectRefused({"--input=device", "--data=x"}, "cannot read --data=x");
  EXPECT_EQ(refusal({"--input=queue", "--data=x"}), "accepted");
  EXPECT_EQ(refusal({"--nesterov"}), "accepted");
  expectRefused({"--optimizer=adam", "--nesterov"}, "only --optimizer=sgd");
  expectRefused({"--optimizer=adamw", "--momentum=0"}, "--momentum does nothing with --optimizer=adamw");
  expectRefused({"--adam-beta1=0.8"}, "--adam-beta1 does nothing with --optimizer=sgd");
  expectRefused({"--adam-beta2=0.8"}, "--adam-beta2");
  expectRefused({"--adam-epsilon=0.8"}, "--adam-epsilon");
  EXPECT_EQ(refusal({"--optimizer=adam"}), "accepted");
  EXPECT_EQ(refusal({"--optimizer=adamw", "--adam-beta1=0.8", "--adam-beta2=0.9", "--adam-epsilon=1"}), "accepted");
  expectRefused({"--loss-at=gathered", "--forward-only"}, "--forward-only");
  expectRefused({"--loss-at=gathered", "--accumulate=2"}, "--accumulate=2");
  EXPECT_EQ(refusal({"--loss-at=gathered"}), "accepted");
  expectRefused({"--recompute=norm", "--executor=autograd"}, "only --executor=planned computes activations again");
  EXPECT_EQ(refusal({"--recompute=norm"}), "accepted");
  expectRefused({"--pad-images=4", "--executor=autograd"}, "only --executor=planned pads images");
  EXPECT_EQ(refusal({"--pad-images=none", "--executor=autograd"}), "accepted");
  EXPECT_EQ(refusal({"--pad-images=4"}), "accepted");
}

TEST(Rules, ServersAreProcessesOfTheRun) {
  const std::string server = "--strategy=parameter_server";
  EXPECT_EQ(refusal({server, "--ranks=2"}), "accepted");
  EXPECT_EQ(refusal({server, "--ranks=2", "--server-ranks=2"}), "accepted");
  expectRefused({server, "--ranks=2", "--server-ranks=3"}, "so many ranks are not there; give at most 2");
  EXPECT_EQ(refusal({server, "--servers=2"}), "accepted");
  expectRefused({server, "--servers=1", "--server-ranks=1"}, "leave one of them out");
  expectRefused({"--servers=1"},
                "--servers=1 with --strategy=replicated: it keeps no variables on servers; use "
                "--strategy=parameter_server, or leave --servers away");
  expectRefused({server, "--servers=1", "--forward-only"}, "--forward-only: nothing is updated");
  expectRefused({server, "--servers=1", "--ranks=2", "--split=measured"}, "give the shares, as 3:1");
  EXPECT_EQ(refusal({server, "--servers=1", "--ranks=2", "--split=3:1"}), "accepted");
  expectRefused({server, "--servers=1", "--sync-batch-norm"}, "--sync-batch-norm: statistics go between replicas");
  expectRefused({server, "--servers=1", "--check-collectives"}, "on each rank in another order");
  EXPECT_EQ(refusal({server, "--check-collectives"}), "accepted");
}

TEST(Rules, BetweenRanksServersAreOnCpus) {
  const std::string server = "--strategy=parameter_server";
  expectRefused(
      {server, "--devices=cuda:0", "--ranks=2"},
      "--ranks=2 with --strategy=parameter_server --devices=cuda:0: between ranks it exchanges by Gloo, from the "
      "memory of CPUs; those between ranks there: --strategy=replicated, local_sgd, compressed and independent");
  expectRefused({server, "--devices=cuda:0", "--servers=1"}, "--ranks=1 --servers=1 with");
  for (const char* mode : {"async", "staged"}) {
    expectRefused({server, concat("--server-mode=", mode), "--devices=cuda:0+1"}, "it is built for CPUs");
    EXPECT_EQ(refusal({server, concat("--server-mode=", mode), "--ranks=2"}), "accepted");
  }
}

TEST(Rules, AnAsynchronousServerHasNoOneOrder) {
  const Texts async{"--strategy=parameter_server", "--server-mode=async", "--ranks=2"};
  const auto with = [&](Texts more) {
    more.insert(more.end(), async.begin(), async.end());
    return more;
  };
  EXPECT_EQ(refusal(with({"--overlap=off"})), "accepted") << "it exchanges gradients";
  expectRefused(with({"--deterministic"}),
                "--server-mode=async --max-staleness=2: updates are made in the order in which");
  EXPECT_EQ(refusal(with({"--deterministic", "--max-staleness=0"})), "accepted");
  expectRefused(with({"--check-collectives"}), "its ranks make no collectives");
  expectRefused(with({"--check-drift=2"}), "its replicas need not be equal after a step");
}

TEST(Rules, AGraphThatIsAskedForIsCapturedOrRefused) {
  const Texts onGpu{"--devices=cuda:0", "--cuda-graph=on"};
  EXPECT_EQ(refusal(onGpu), "accepted");
  expectRefused({"--cuda-graph=on"}, "--cuda-graph=on: only GPUs have graphs");
  expectRefused({"--devices=cuda:0", "--cuda-graph=on", "--executor=autograd"}, "--executor=autograd");
  expectRefused({"--devices=cuda:0+1", "--cuda-graph=on", "--loss-at=gathered"}, "--loss-at=gathered");
  for (const char* choice : {"auto", "off"}) EXPECT_EQ(refusal({concat("--cuda-graph=", choice)}), "accepted");
}

TEST(Rules, ProcessesAreProducers) {
  expectRefused({"--loader=processes", "--input=host"},
                "--loader=processes with --input=host: only --input=queue has producers");
  expectRefused({"--loader=processes"}, "--loader=processes with --input=device");
  expectRefused({"--loader=processes", "--input=python-queue"}, "with --input=python-queue");
  EXPECT_EQ(refusal({"--loader=processes", "--input=queue"}), "accepted");
  EXPECT_EQ(refusal({"--loader=threads", "--input=host"}), "accepted");
}

}  // namespace
}  // namespace tandem

#pragma once

#include "config/table/row_parts.h"

namespace tandem::option_rows {

inline constexpr Option deviceOptions[] = {
    // clang-format off
    often(onBench, {"devices", on, "", "SET",
     "GPUs as cuda:0+1 or sets of pinned cores as cpu:0+1, one replica each; cpu and cuda mean the first of them; auto "
     "means cuda if this build can use a GPU here and no option on cores is given, else cpu",
     onAll, field<&Placement::devices>, Values::any, axis, devices}),
    {"ranks", on, "", "N",
     "processes of the run on this host, each with --replicas; gradients go between them by Gloo, or NCCL on GPUs",
     onSteps, field<&Placement::ranks>, Values::any, axis, within<&Placement::ranks, 1, 4096>},
    {"servers", on, "", "N",
     "processes more, behind --ranks, that have no replicas and only keep the variables of parameter_server; 0 keeps them "
     "on --ranks (--server-ranks)", onSteps, field<&Placement::servers>, Values::any, axis,
     within<&Placement::servers, 0, 4096>},
    often(onBench, {"replicas", on, "", "N|auto",
     "copies of the network, each on its own device and fed its own batches; auto is one on each of --devices: all usable "
     "GPUs, or one replica on cpu; where bench runs several points is at the top of its help", onAll, field<&Placement::replicas>, Values::any, axis,
     within<&Placement::replicas, 1, 4096>, {}, {"auto", Config::oneOnEachDevice}}),
    {"cores-per-replica", on, "cores", "N",
     "cores of a CPU replica; 0 divides the usable cores by the most CPU devices of any point of the run",
     onAll, field<&Placement::coresPerReplica>, Values::any, axis, within<&Placement::coresPerReplica, 0, 65536>},
    keepingBits({"oversubscribe", on, "", "", "let CPU replicas share cores when there are fewer cores than asked for",
     onAll, field<&Placement::oversubscribe>, Values::any, axis, nullptr}),
    // clang-format on
};

inline constexpr Option exchangeOptions[] = {
    // clang-format off
    often(onBench, {"strategy", exchange, "", "NAME", "how the gradients of all replicas become one update",
     onSteps, field<&Exchange::strategy>, Values::names, axis, nullptr}),
    {"parameter-device", exchange, "", "PLACE",
     "where parameter_server keeps the variables, of several ranks those of each: cpu, device (spread over the replicas "
     "by bytes) or one device's name, as cpu:0 or cuda:1; passed over by strategies without a server", onSteps, field<&Exchange::parameterDevice>, Values::any, axis, parameterDevice},
    {"server-ranks", exchange, "ranks", "N",
     "the first N ranks keep the variables of parameter_server, shared out by bytes, and update them; 0 takes all ranks; "
     "passed over by strategies without a server", onSteps, field<&Exchange::serverRanks>, Values::any, axis,
     within<&Exchange::serverRanks, 0, 4096>},
    {"server-mode", exchange, "", "NAME",
     "when a parameter_server updates, and when replicas get the weights: sync, async or staged; passed over by "
     "strategies without a server", onSteps, field<&Exchange::serverMode>, Values::names, results, nullptr},
    {"max-staleness", exchange, "updates", "N",
     "updates that a rank may be ahead of the slowest one, with --server-mode=async; 0 makes them in the order of a "
     "synchronous run; passed over by other modes", onSteps, field<&Exchange::maxStaleness>, Values::any, results,
     within<&Exchange::maxStaleness, 0, million>},
    {"all-reduce", exchange, "", "NAME[:SIZE:NAME...]",
     "how replicated sums gradients and updates; auto means owner on the CPU, nccl on GPUs; compressed and local_sgd sum "
     "by it too, but not by owner: there auto means shared on the CPU; passed over by other strategies. Several names with "
     "sizes between them, as tree:32k:ring, sum buckets of up to so many bytes by the first, larger ones by the next",
     onSteps, field<&Exchange::allReduce>, Values::namesBySize, axis, nullptr},
    {"sync-every", exchange, "steps", "N",
     "updates that each replica of local_sgd makes alone, before weights are averaged; passed over by other strategies",
     onSteps, field<&Exchange::syncEvery>, Values::any, results, within<&Exchange::syncEvery, 1, million>},
    {"block-momentum", exchange, "", "X",
     "momentum of local_sgd over the changes from average to average (BMUF); 0 takes the average itself", onSteps,
     field<&Exchange::blockMomentum>, Values::any, results, fraction<&Exchange::blockMomentum>},
    {"compression", exchange, "", "NAME",
     "how compressed makes gradients smaller; what it leaves out is added to the next gradient; passed over by other "
     "strategies", onSteps, field<&Exchange::compression>, Values::names, results, nullptr},
    {"compression-ratio", exchange, "", "X", "share of each parameter's values that topk sends", onSteps,
     field<&Exchange::compressionRatio>, Values::any, results, share<&Exchange::compressionRatio>},
    {"compression-rank", exchange, "", "N", "rank of powersgd: columns of each of the two factors of a matrix", onSteps,
     field<&Exchange::compressionRank>, Values::any, results, within<&Exchange::compressionRank, 1, 1024>},
    {"compression-start", exchange, "updates", "N",
     "compressed exchanges whole gradients in the first N updates, warm-up included: the first gradients suffer most", onSteps,
     field<&Exchange::compressionStart>, Values::any, results, within<&Exchange::compressionStart, 0, million>},
    {"gradient-precision", exchange, "", "NAME",
     "type to which gradients are rounded for the exchange, summed in, and widened from for the update; fp16 scales the "
     "loss; auto is the type in which --precision computes them; passed over by local_sgd, compressed and independent", onSteps, field<&Exchange::gradientPrecision>,
     Values::names, axis, nullptr},
    {"bucket-mib", exchange, "MiB", "X", "size of the pieces in which gradients are exchanged",
     onSteps, field<&Exchange::bucketMib>, Values::any, axis, bucket<&Exchange::bucketMib>},
    {"first-bucket-mib", exchange, "MiB", "X",
     "size of the first of these pieces: the exchange begins the sooner, the smaller it is; 0 takes that of the others",
     onSteps, field<&Exchange::firstBucketMib>, Values::any, axis, zeroOrBucket<&Exchange::firstBucketMib>},
    {"overlap", exchange, "", "NAME",
     "exchange gradients while backward goes on, each bucket or variable as soon as it is complete, or (off) all of them "
     "after it: an exchange takes cores, or a GPU's multiprocessors and memory, from backward, so which is faster is "
     "to be measured, by --overlap=on,off", onSteps, field<&Exchange::overlap>, Values::names, axis, nullptr},
    {"loss-at", exchange, "", "NAME", "where outputs meet labels: on each replica, or gathered on one device",
     onSteps, field<&Exchange::lossAt>, Values::names, axis, nullptr},
    {"job", exchange, "", "worker|ps[:N]",
     "what this process is among those of --worker-hosts and --ps-hosts, each of which somebody starts: a worker, which "
     "trains, or a ps, which only serves variables; as in tf_cnn_benchmarks and tensorpack", onSteps, field<&Exchange::job>,
     Values::any, oneValue, nullptr},
    {"task-index", exchange, "", "N", "its number among those of its --job, from 0; -1 takes that in --job, or 0", onSteps,
     field<&Exchange::taskIndex>, Values::any, oneValue, within<&Exchange::taskIndex, -1, 4095>},
    {"worker-hosts", exchange, "", "HOST:PORT,...",
     "the workers in the order of their numbers; they are the ranks, and all processes meet at the first", onSteps,
     field<&Exchange::workerHosts>, Values::any, oneValue, nullptr, {}, {}, FileUse::none, 0, /*holdsCommas=*/true},
    {"ps-hosts", exchange, "", "HOST:PORT,...", "the servers in the order of their numbers (--servers)", onSteps,
     field<&Exchange::psHosts>, Values::any, oneValue, nullptr, {}, {}, FileUse::none, 0, /*holdsCommas=*/true},
    {"master-addr", exchange, "", "HOST", "name or address of rank 0's host, where ranks of several hosts meet; empty takes the launcher's",
     onSteps, field<&Exchange::masterAddr>, Values::any, oneValue, nullptr},
    {"master-port", exchange, "", "N", "port where they meet; 0 takes the launcher's",
     onSteps, field<&Exchange::masterPort>, Values::any, oneValue, within<&Exchange::masterPort, 0, 65535>},
    {"interface", exchange, "", "NAME", "network interface by which ranks of several hosts exchange, as eth0; empty takes the launcher's",
     onSteps, field<&Exchange::interface>, Values::any, oneValue, nullptr},
    {"timeout", exchange, "s", "X", "how long a rank waits for the others before the run fails",
     onSteps, field<&Exchange::timeout>, Values::any, oneValue, positive<&Exchange::timeout>},
    {"check-drift", exchange, "steps", "N",
     "compare the weights of all replicas after every N-th step, and end the run at a difference; 0 compares those of "
     "ranks at the end alone; a run that compares is not quoted", onSteps, field<&Exchange::checkDrift>, Values::any, measuring,
     within<&Exchange::checkDrift, 0, million>},
    {"sync-batch-norm", exchange, "", "",
     "let batch-norm normalise the batches of all replicas as one, which exchange its statistics in forward and backward; "
     "passed over by networks without batch-norm", onSteps, field<&Exchange::syncBatchNorm>, Values::any, results, nullptr},
    {"check-collectives", exchange, "", "",
     "compare each collective between ranks before it runs, and end the run where ranks start different ones; such a run "
     "is not quoted", onSteps, field<&Exchange::checkCollectives>, Values::any, measuring, nullptr},
    // clang-format on
};

}  // namespace tandem::option_rows

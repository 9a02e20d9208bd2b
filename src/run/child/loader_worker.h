#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/stream/loader_stream.h"
#include "machine/process/child_process.h"
#include "run/plan/replica_set_options.h"

namespace tandem {

/// What a process of --loader=processes shall make; one JSON object.
struct LoaderOrder {
  Config config;                ///< of a plan
  int64_t images = 0;           ///< of the data set
  std::vector<int64_t> shares;  ///< RunPlan::shares
  int64_t replica = 0;          ///< whose batches, among the replicas of all ranks
  int64_t count = 1;            ///< number of replicas from there on whose images are one batch
  std::vector<int> hardwareThreads;
  LoaderShare share;
};
std::string toText(const LoaderOrder& order);
/// Throws UsageError if the text is not an order.
LoaderOrder loaderOrderFrom(const std::string& text);

/// The batches of a replica of this process, each that of `count` replicas, made by --producers processes: the program
/// `executable` with the command `loader-worker`. They are started here, and end with the result. Where the plan has
/// --cache each of them has an equal share of it.
std::unique_ptr<HostBatches> batchesByProcesses(const RunPlan& plan, int64_t replica, int64_t count,
                                                const TrainingData& data,
                                                const std::string& executable = ownExecutable);

/// The side of such a process: reads the order from standard input and makes batches until its parent ends it. Returns
/// the exit code. Throws UsageError if no process of this program started it.
int runLoaderWorker();

}  // namespace tandem

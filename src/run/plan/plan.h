#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "data/dataset/dataset.h"
#include "graph/graph.h"
#include "machine/cpu/topology.h"
#include "run/child/largest_fit.h"
#include "run/plan/memory_estimate.h"
#include "run/plan/setup.h"

namespace tandem {

/// What a configuration comes to on this machine, before anything is allocated.
struct RunPlan {
  Config config;  ///< with every "auto" and 0 resolved, except head, layout, convolution, steps and deadline
  Setup setup;    ///< the rows that it names
  std::shared_ptr<const Graph> graph;
  std::optional<DatasetFacts> data;       ///< of --data, without its pixels; none for synthetic images
  CorePlan cores;                         ///< CPU devices only
  std::vector<std::string> deviceLabels;  ///< one per replica
  std::vector<int> cudaDevices;           ///< one per replica; empty on the CPU
  int64_t replicaBatch = 0, globalBatch = 0;
  std::optional<BatchRange> search;  ///< of --batch=max; the batch here is its guess, by the memory estimate
  int64_t parameters = 0;
  int64_t ownImageSize = 0;  ///< of the model where --image-size does not say otherwise
  double forwardFlopsPerImage = 0;
  std::string network, networkSha256;  ///< name in a network file and SHA-256 of its bytes; empty for the zoo's
  int64_t activationBytes = 0;         ///< that a replica keeps for backward, at most at any one time; 0: not known
  std::string recomputeNote;           ///< where --recompute finds nothing to do
  MemoryEstimate memory;
  int64_t availableBytes = 0;             ///< free on the host, or of the GPU that has least
  std::vector<std::string> gpuLinkLines;  ///< how the GPUs of the run are connected
};

/// The configuration with every "auto" and 0 resolved as in RunPlan, but no rule checked: what stands in the record
/// of a point that a rule forbids. Throws UsageError for an unknown name, DataError for --data.
Config resolveConfig(const Config& config);

/// Resolves a configuration and checks it: names against catalogs, the rules of plan/rules.h, devices and cores. Only
/// the need for memory is not judged (checkMemory()). Under strong scaling --batch is the global batch. Where
/// --cores-per-replica is 0 the replicas share all usable cores. Resolving config again gives an equal one. Throws
/// UsageError; DataError for --data. Creates no tensor and reads no pixels.
RunPlan resolvePlan(const Config& config);

/// Throws UsageError when the plan needs more memory than is available, by the estimate. What --batch=max finds is not
/// judged: it is tried.
void checkMemory(const RunPlan& plan);

/// Seconds after which a point counts as hung: --point-deadline; else four times --budget and 120 s; with --steps 600 s
/// and 30 s per step.
double deadlineSeconds(const Config& config);

/// Of a plan with a search: that its batch is only a guess.
std::string guessText(const RunPlan& plan);

/// The plan as shown by --dry-run: one line per fact.
std::string planText(const RunPlan& plan);

/// The plan in one line.
std::string planLine(const RunPlan& plan);

}  // namespace tandem

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "device/memory_layout.h"
#include "device/precision.h"
#include "graph/graph.h"
#include "machine/cpu/topology.h"
#include "run/child/largest_fit.h"
#include "run/plan/memory_estimate.h"

namespace tandem {

class Dataset;

/// What a configuration comes to on this machine, before anything is allocated.
struct RunPlan {
  Config config;  ///< with every "auto" and 0 resolved, except head, layout, convolution, steps and deadline
  std::shared_ptr<const Dataset> data;    ///< of --data, opened; null for synthetic images
  CorePlan cores;                         ///< CPU devices only
  std::vector<std::string> deviceLabels;  ///< one per replica
  std::vector<int> cudaDevices;           ///< one per replica; empty on the CPU
  int64_t replicaBatch = 0, globalBatch = 0;
  std::optional<BatchRange> search;  ///< of --batch=max; the batch here is its guess, by the memory estimate
  int64_t parameters = 0;
  int64_t ownImageSize = 0;  ///< of the model where --image-size does not say otherwise
  double forwardFlopsPerImage = 0;
  std::string loss;                    ///< row of the loss catalog
  std::string network, networkSha256;  ///< name in a network file and SHA-256 of its bytes; empty for the zoo's
  int64_t activationBytes = 0;         ///< that a replica keeps for backward, at most at any one time; 0: not known
  std::string recomputeNote;           ///< where --recompute finds nothing to do
  MemoryEstimate memory;
  int64_t availableBytes = 0;             ///< free on the host, or of the GPU that has least
  std::vector<std::string> gpuLinkLines;  ///< how the GPUs of the run are connected
};

/// Who says whether a run fits into memory: the estimate, or one that tried it.
enum class MemoryRule { estimate, tried };

/// The configuration with every "auto" and 0 resolved as in RunPlan, but no rule checked: what stands in the record
/// of a point that a rule forbids. Throws UsageError for an unknown model, DataError for --data.
Config resolveConfig(const Config& config, int64_t largestReplicas);

/// The network of a configuration whose classes and image size are resolved. Throws UsageError.
Graph graphOf(const Config& config);

/// The row of --precision.
const Precision& precisionOf(const Config& config);

/// --all-reduce, or what "auto" stands for on the configuration's devices.
std::string_view allReduceOf(const Config& config);

/// --layout; nhwc for "auto", which it is until something else is measured to be faster (KernelSelection).
const LayoutEntry& layoutOf(const Config& config);

/// Resolves and checks a configuration: names against catalogs, devices, cores, batches, combination rules, memory (as
/// the rule says; of --batch=max nothing is refused, for it is to be tried).
/// `largestReplicas` of the sweep fixes --cores-per-replica. Under strong scaling --batch is the global batch. Throws
/// UsageError, DataError for --data. Creates no tensor.
RunPlan resolvePlan(const Config& config, int64_t largestReplicas, MemoryRule rule = MemoryRule::estimate);

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

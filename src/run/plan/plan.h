#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/rank_place.h"
#include "config/config.h"
#include "data/dataset/dataset.h"
#include "data/transform/augment.h"
#include "graph/graph.h"
#include "machine/cpu/topology.h"
#include "run/child/largest_fit.h"
#include "run/plan/memory_estimate.h"
#include "run/plan/setup.h"

namespace tandem {

class World;  // comm/world.h

/// A configuration resolved on this machine, before anything is allocated.
struct RunPlan {
  /// Resolved are classes, image size, batch, learning rate, input, devices, replicas, on a CPU the cores per replica,
  /// and the head if it sets the classes. Other values stay as given, "auto" and 0 included.
  Config config;
  Setup setup;  ///< the catalog rows that it names
  std::shared_ptr<const Graph> graph;
  std::optional<DatasetFacts> data;             ///< facts of --data, without its pixels; none for synthetic images
  std::shared_ptr<const Augmentation> augment;  ///< of the images of --data; null for synthetic ones
  RankPlace place;                              ///< of this process among the ranks
  World* world = nullptr;                       ///< of the ranks; null: there is this one
  CorePlan cores;                               ///< of this rank's replicas; CPU devices only
  CorePlan hostCores;                           ///< of all replicas on this host; CPU devices only
  std::vector<std::string> deviceLabels;        ///< one per replica on this host
  std::vector<int> cudaDevices;                 ///< one per replica; empty on the CPU
  int64_t replicaBatch = 0, globalBatch = 0;    ///< images of a step: the most of a replica, and of all
  /// Images of each replica of all ranks. With --split=measured they are as equal as can be until the rates are known.
  std::vector<int64_t> shares;
  std::string kernels;     ///< selection that a checkpoint has kept (kernel_selection_json.h); empty: it is measured
  int64_t firstBatch = 0;  ///< global batches that a training has had before it is resumed
  std::optional<BatchRange> search;  ///< present with --batch=max; the batch of `config` is then its guess
  int64_t parameters = 0;
  int64_t ownImageSize = 0;  ///< the model's image size without --image-size
  double forwardFlopsPerImage = 0;
  std::string network, networkSha256;  ///< name in a network file and SHA-256 of its bytes; empty for the zoo's
  int64_t activationBytes = 0;         ///< most bytes that a replica keeps for backward at any time; 0: not known
  std::string recomputeNote;           ///< says that --recompute has no effect; else empty
  MemoryEstimate memory;
  int64_t availableBytes = 0;             ///< free on the host, or on the GPU with the least free memory
  std::vector<std::string> gpuLinkLines;  ///< how the GPUs of the run are connected
  std::string sweepBegin;                 ///< by exactUtcTime(); kernels measured since then are those of the sweep
  std::string link;                       ///< see ActualSetup::link
};

/// The configuration resolved as in RunPlan, but no rule is checked, and --devices, --replicas and --batch=max stay.
/// For the record of a point that was not run. Throws UsageError for an unknown name, DataError for --data or a network
/// file.
Config resolveConfig(const Config& config);

/// Resolves a configuration. Checks names against catalogs, the rules of plan/rules.h, devices and cores, but not the
/// memory (checkMemory()). Under strong scaling --batch is the global batch, which --split shares out. If
/// --cores-per-replica is 0, replicas share the usable cores equally. Resolving the result's config again gives an
/// equal one. Creates no tensor and reads no pixels. `place`: of the process that will run it; null: rank 0 of --ranks
/// on this host. Throws UsageError, and DataError for --data or a network file.
RunPlan resolvePlan(const Config& config, const RankPlace* place = nullptr);

/// The part of a plan on which its batches depend, of a resolved configuration. `shares`: RunPlan::shares; `images`: of
/// the data set. The process is alone. For one that makes batches of a run.
RunPlan planOfBatches(const Config& resolved, std::vector<int64_t> shares, int64_t images);

/// The plan for images of another size: configuration, graph and FLOPs. The memory estimate stays, and no rule is
/// checked. Throws UsageError for a size that the network cannot have.
RunPlan withImageSize(RunPlan plan, int64_t pixels);

/// Bytes of samples that a rank of the plan may keep in memory: an equal part of --cache.
int64_t cacheBytesOfRank(const RunPlan& plan);

/// Throws UsageError if the plan's memory estimate exceeds the available memory. A plan with a search passes: its
/// batches are tried.
void checkMemory(const RunPlan& plan);

/// Seconds after which a point counts as hung: --point-deadline if given. Without end for a training. Else 600 s + 30 s
/// per step with --steps, or 120 s + 4 times --budget.
double deadlineSeconds(const Config& config);

/// Says that the plan's batch is only a guess. REQUIRES: the plan has a search.
std::string guessText(const RunPlan& plan);

/// "validation images of FOLDER": what --data gives. REQUIRES: plan.data.
std::string dataText(const RunPlan& plan);

/// What --data gives in place of the images that --data-split names. Empty: it gives these, or none were named.
std::string standInNote(const RunPlan& plan);

/// The plan as --dry-run prints it: one line per fact.
std::string planText(const RunPlan& plan);

/// Whether the process that will run a plan only serves variables.
bool servesAlone(const RunPlan& plan);

/// The shares of a plan, in the form of ReplicaSetOptions::shares: empty if all are equal.
std::vector<int64_t> unequalShares(const RunPlan& plan);

/// The plan in one line.
std::string planLine(const RunPlan& plan);

}  // namespace tandem

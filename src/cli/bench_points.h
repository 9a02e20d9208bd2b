#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/command_line.h"
#include "machine/gpu/gpu_facts.h"
#include "run/plan/plan.h"

namespace tandem {

/// A point of a sweep: its configuration, and its plan or the reason why it cannot run.
struct BenchPoint {
  Config config;                      ///< as asked for, with the devices, the cores per replica and the batch found
  std::string label;                  ///< "replicas=2 strategy=replicated": the values of the axes
  std::optional<RunPlan> plan;        ///< with --batch=max a guess, until BenchRun has found the batch
  std::optional<BatchSearch> search;  ///< present after the search for --batch=max
  std::string refusal;                ///< why there is no plan; empty if there is one
  std::vector<std::string> notes;     ///< options that were passed over
  bool verified = false;              ///< a run was asked to compare its steps; repeats compute the same (--verify)
};

/// What a bench without options can run on.
struct BenchPlaces {
  int64_t cores = 1;
  std::vector<int> gpus;      ///< ordinals of the GPUs that this build can use
  std::string halfPrecision;  ///< the 16-bit precision that all of them support; empty: none
  std::string withoutGpus;    ///< why a build with CUDA can use no GPU; else empty
};

BenchPlaces placesOf(int64_t usableCores, const CudaFacts& cuda);

/// Adds default axes, unless --ranks, --replicas, --strategy, --devices or --compare is given, or a launcher started
/// several ranks:
///
/// - the strategies replicated and parameter_server;
/// - on CPUs, or with an option on cores: 1, 2, 4, ... replicas, up to the number of cores;
/// - else 1, 2, 4, ... GPUs and all of them, in fp32 and in a 16-bit precision; with several GPUs, replicated also with
///   its exchange after backward.
///
/// It also sets defaults for options that are not given. The points share 100 s of measuring, at least 5 s each. On
/// CPUs the batch is small, so that enough steps fit. With --compare the budget of each run is 5 s. A note says why
/// GPUs are not used.
void addDefaultAxes(Sweep& sweep, const BenchPlaces& places);

/// Resolves every point. Without --cores-per-replica, cores are divided by the most CPU devices of any point. Options
/// that mean nothing to a point's strategy are passed over (run/plan/placement.h), and points that are then equal
/// become one. Points with equal threads run kernels that are measured for the most replicas of them
/// (--kernel-replicas). A point that a rule forbids keeps the rule's text. `place`: as for resolvePlan(). Throws
/// UsageError with the first such text if no point can run. Throws DataError for --data or a network file.
std::vector<BenchPoint> resolvePoints(const Sweep& sweep, const std::vector<Config>& configs,
                                      const RankPlace* place = nullptr);

}  // namespace tandem

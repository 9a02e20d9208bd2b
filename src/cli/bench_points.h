#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/command_line.h"
#include "machine/gpu/gpu_facts.h"
#include "run/plan/plan.h"

namespace tandem {

/// A point of a sweep: what was asked for, and what it comes to or why it cannot be.
struct BenchPoint {
  Config config;                      ///< as asked for, but with the cores of each replica
  std::string label;                  ///< "replicas=2 strategy=replicated": the values of the axes
  std::optional<RunPlan> plan;        ///< of --batch=max by a guess, until BenchRun has found the batch
  std::optional<BatchSearch> search;  ///< that found config.batch
  std::string refusal;                ///< set when there is no plan
};

/// What a bench without options can run on.
struct BenchPlaces {
  int64_t cores = 1;
  std::vector<int> gpus;      ///< ordinals of those that this build can use
  std::string halfPrecision;  ///< that all of them compute in; empty: none
  std::string withoutGpus;    ///< why a build with CUDA can use none; else empty
};

BenchPlaces placesOf(int64_t usableCores, const CudaFacts& cuda);

/// Without --replicas, --strategy and --devices the sweep gets axes: replicated and parameter_server, and on CPUs
/// replicas 1, 2, 4, ... up to the cores. Where there are GPUs, and no option is of cores, it is devices 1, 2, 4, ...
/// all of them, in fp32 and in 16 bits, and replicated on several of them with its exchange after backward too. The
/// measuring time is then shared so that the whole stays near two minutes, and on CPUs a small batch lets enough steps
/// fit, unless options say otherwise. With --compare there are no default axes, and the budget of each of its many runs
/// is 5 s. Notes why GPUs are not used.
void addDefaultAxes(Sweep& sweep, const BenchPlaces& places);

/// Resolves every point. Where --cores-per-replica is not given, cores are divided by the largest number of replicas of
/// the points. A point that a rule forbids keeps the rule's text; when no point is possible, throws
/// UsageError with the first one's. DataError (a data set that cannot be read) concerns all and is thrown.
std::vector<BenchPoint> resolvePoints(const Sweep& sweep, const std::vector<Config>& configs);

}  // namespace tandem

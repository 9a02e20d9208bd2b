#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/config.h"
#include "measure/profile/profile.h"
#include "measure/profile/telemetry.h"
#include "measure/record/batch_search.h"
#include "measure/record/environment.h"
#include "measure/record/step_sample.h"
#include "measure/validity/interference.h"

namespace tandem {

enum class OutcomeKind { ok, skipped, failed };

struct Outcome {
  OutcomeKind kind = OutcomeKind::ok;
  ExitCode code = ExitCode::ok;
  std::string reason;        ///< empty when ok
  bool outOfMemory = false;  ///< memory was refused, or its limit was passed

  bool operator==(const Outcome&) const = default;
};

/// What a run really used, as opposed to what was asked for.
struct ActualSetup {
  std::vector<std::string> replicas;  ///< "cpu cores 0-1", "cuda:0 NVIDIA H200"
  int64_t threadsPerReplica = 1;
  bool sharedCores = false;    ///< --oversubscribe let replicas share cores
  bool control = false;        ///< nothing is exchanged: no way of training, only what the others are compared with
  std::string allReduce;       ///< algorithm really used, empty when none
  std::string exchangeMemory;  ///< what memory NCCL exchanged gradients from; empty: another algorithm, or not known
  std::string layout;          ///< memory order really used
  std::string cudaGraph;       ///< "on", or why a GPU's step was no CUDA graph; empty on a CPU
  std::string data;            ///< name of the data set that the images were of; empty: not known
  std::string augment;         ///< row of the augmentations that changed them; empty: nothing did
  std::string loss;            ///< row of the loss catalog
  std::string network;         ///< name in the network file given to --model; empty for a row of the zoo
  std::string networkSha256;   ///< of that file's bytes
  std::map<std::string, int64_t> convolutionPasses;  ///< of a training step, by algorithm; empty where only one exists
  int64_t zeroChannels = -1;            ///< behind an image's own, for the convolutions that read it; -1: not known
  std::vector<std::string> byAutograd;  ///< operations that the planned executor leaves to libtorch's autograd
  int64_t activationBytes = 0;          ///< the most that a replica's plan keeps for backward at any one time
  int64_t parameters = 0;
  int64_t ownImageSize = 0;  ///< of the network where --image-size does not say otherwise; 0: not known
  double forwardFlopsPerImage = 0;
  double flopsPerImage = 0;  ///< that a step does: what training adds to forward included; 0: not known
  double bytesPerStep = 0;   ///< that memory moves for all replicas at the least (run/plan/step_cost.h); 0: not known

  bool operator==(const ActualSetup&) const = default;
};

struct Warmup {
  int64_t steps = 0;
  Nanos wall{};
  bool steady = true;  ///< false: the rule was not met before the limit; the verdict is measure/validity/stationarity.h

  bool operator==(const Warmup&) const = default;
};

/// Bytes and messages that the strategy moves per replica and step.
struct Traffic {
  double bytesPerStep = 0;
  double messagesPerStep = 0;

  bool operator==(const Traffic&) const = default;
};

/// One measured run, raw samples included. The schema number changes when the meaning of a field does.
struct RunRecord {
  static constexpr int currentSchema = 1;
  int schema = currentSchema;
  std::string time;  ///< UTC, ISO 8601, start of the run
  Environment environment;
  Config config;
  ActualSetup placement;
  Outcome outcome;
  Warmup warmup;
  std::vector<StepSample> steps;  ///< the measured window only; every replica
  std::vector<double> losses;     ///< mean over replicas, one per step, warm-up included
  Nanos startup{};                ///< from the start of the process to the first step
  Nanos window{};                 ///< the measured window: one synchronisation before, one after
  Nanos wall{};                   ///< from the start of the process to its end
  int64_t globalBatch = 0;
  int64_t measuredSteps = 0;
  int64_t minorFaults = 0;        ///< of the process in the measured window: pages that it touched for the first time
  int64_t peakMemoryBytes = 0;    ///< host: peak resident set; CUDA: peak allocated, largest device
  int64_t peakReservedBytes = 0;  ///< CUDA: peak that libtorch's allocator held, largest device; 0: not known
  Traffic traffic;
  int64_t skippedSteps =
      -1;  ///< that updated nothing, warm-up included: gradients of a scaled loss overflowed. -1: unscaled
  double lossScale = 0;       ///< at the end. Where each replica has its own: the least, and above the most; 0: none
  double flopsPeak = 0;       ///< per second, of the cores of the run in its precision; 0: not known
  double bytesPeak = 0;       ///< per second, of their memory; 0: not known
  double energyJoules = 0;    ///< of all metered devices in the measured window; 0: no meter
  Interference interference;  ///< in the measured window
  Telemetry telemetry;
  std::optional<BatchSearch> batchSearch;  ///< where --batch=max found config.batch
  std::optional<Profile> profile;          ///< of a run with --profile, which is no measurement of throughput
  std::vector<std::string> notes;          ///< caveats that belong beside the number

  /// Measured, and nothing is known to have disturbed it.
  bool valid() const { return outcome.kind == OutcomeKind::ok && interference.reasons.empty(); }

  bool operator==(const RunRecord&) const = default;
};

}  // namespace tandem

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
#include "measure/record/equality_stamp.h"
#include "measure/record/step_sample.h"
#include "measure/record/training_record.h"
#include "measure/validity/interference.h"

namespace tandem {

enum class OutcomeKind { ok, skipped, failed };

struct Outcome {
  OutcomeKind kind = OutcomeKind::ok;
  ExitCode code = ExitCode::ok;
  std::string reason;        ///< empty when ok
  bool outOfMemory = false;  ///< an allocation failed, or the memory limit was passed

  bool operator==(const Outcome&) const = default;
};

/// What a run really used, as opposed to the options asked for.
struct ActualSetup {
  std::vector<std::string> replicas;  ///< "cpu cores 0-1", "cuda:0 NVIDIA H200"
  std::vector<int64_t> shares;        ///< images of each in a step, where they are not equal; else empty
  int64_t threadsPerReplica = 1;
  bool sharedCores = false;  ///< --oversubscribe let replicas share cores
  bool control = false;      ///< no exchange: a control for comparison, not a way to train
  std::string update;        ///< strategy, and rounding of gradients, by which updates are other than those of one
                             ///< replica, by design; empty: they are equal
  std::string allReduce;     ///< algorithm really used; empty: none
  std::string link;  ///< between its devices: paths of GPUs as "PIX", what cores share as "L3"; empty: one device
  std::string exchangeMemory;  ///< memory that NCCL exchanged gradients from; empty: another algorithm, or not known
  std::string layout;          ///< memory layout really used
  std::string cudaGraph;       ///< "on", or why a GPU's step was not captured as a CUDA graph; empty on a CPU
  std::string data;            ///< name of the data set; empty: not known
  int64_t dataImages = 0;      ///< that it has; 0: images are synthetic, or it is not known
  std::string augment;         ///< name or text of the chain that changed the images; empty: none
  /// By which images were normalised, of each channel, in bytes from 0 to 255; empty: not known.
  std::vector<double> imageMean, imageDeviation;
  std::string loss;           ///< row of the loss catalog
  std::string network;        ///< name in the network file given to --model; empty for a row of the zoo
  std::string networkSha256;  ///< of the network file's bytes
  /// Convolution passes of a training step, by algorithm; empty if only one exists.
  std::map<std::string, int64_t> convolutionPasses;
  std::string kernels;  ///< which kernels were chosen by measurement, by what gain and for what; empty: none
  /// Channels of zeros behind an image's own, for the convolutions that read it; -1: not known.
  int64_t zeroChannels = -1;
  std::vector<std::string> byAutograd;  ///< operations that the planned executor leaves to libtorch's autograd
  int64_t activationBytes = 0;          ///< the most bytes that a replica's plan keeps for backward at any time
  int64_t parameters = 0;
  int64_t ownImageSize = 0;  ///< image size of the network unless --image-size changes it; 0: not known
  double forwardFlopsPerImage = 0;
  double flopsPerImage = 0;  ///< FLOPs of a training step per image, forward included; 0: not known
  double bytesPerStep = 0;   ///< least memory traffic of a step over all replicas (run/plan/step_cost.h); 0: not known

  bool operator==(const ActualSetup&) const = default;
};

struct Warmup {
  int64_t steps = 0;
  Nanos wall{};
  /// False: the rule was not met before the limit; the verdict is in measure/validity/stationarity.h.
  bool steady = true;

  bool operator==(const Warmup&) const = default;
};

/// Bytes and messages that the strategy moves per replica and step.
struct Traffic {
  double bytesPerStep = 0;
  double messagesPerStep = 0;
  double bytesBetweenRanks = -1;  ///< of bytesPerStep, those that come from other processes; -1: not known

  bool operator==(const Traffic&) const = default;
};

/// How old the weights were that gradients were computed with, in updates that they lacked.
struct StalenessRecord {
  int64_t updates = 0;  ///< of the run, warm-up included
  double mean = 0;      ///< over these
  int64_t most = 0;

  bool operator==(const StalenessRecord&) const = default;
};

/// A host of a run on several, beside that of rank 0.
struct HostRecord {
  Environment environment;
  int64_t replicas = 0;         ///< that ran there
  int64_t peakMemoryBytes = 0;  ///< this and what follows as in RunRecord
  double flopsPeak = 0, bytesPeak = 0;
  double energyJoules = 0;
  Interference interference;
  Telemetry telemetry;

  bool operator==(const HostRecord&) const = default;
};

/// One measured run with its raw samples. A field that changes its meaning changes the schema number.
struct RunRecord {
  static constexpr int currentSchema = 1;
  int schema = currentSchema;
  std::string time;         ///< UTC, ISO 8601, start of the run
  std::string sweep;        ///< names the call of bench that measured it; empty: not known
  int64_t round = 0;        ///< from 1; in a round of a sweep each point is measured once; 0: not known
  std::string side;         ///< "A" or "B" of bench --compare, whose rounds are A B B A; else empty
  Environment environment;  ///< of rank 0's host
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
  int64_t minorFaults = 0;        ///< first touches of pages by the process in the measured window
  int64_t peakMemoryBytes = 0;    ///< host: peak resident set of all ranks; CUDA: peak allocated, largest device
  int64_t peakReservedBytes = 0;  ///< CUDA: peak that libtorch's allocator held, largest device; 0: not known
  Traffic traffic;
  std::optional<StalenessRecord> staleness;  ///< absent where gradients are always those of the newest weights
  /// Steps without an update because gradients of the scaled loss overflowed, warm-up included; -1: unscaled. The most
  /// over replicas that have scales of their own.
  int64_t skippedSteps = -1;
  double lossScale = 0;                ///< at the end, the least over replicas that have their own; 0: none
  double flopsPeak = 0;                ///< per second, for the run's cores on all hosts and its precision; 0: not known
  double bytesPeak = 0;                ///< per second, for the memory of those cores; 0: not known
  double energyJoules = 0;             ///< all metered devices in the measured window; 0: no meter
  Interference interference;           ///< signs of it in the measured window
  Telemetry telemetry;                 ///< of rank 0's host
  std::vector<HostRecord> otherHosts;  ///< in the order of their first ranks; empty: the run was on one host
  std::optional<BatchSearch> batchSearch;  ///< present if --batch=max found config.step.batch
  std::optional<EqualityStamp> equality;   ///< absent with --verify=off, in repeats, and in older records
  std::optional<TrainingRecord> training;  ///< present if it was a training; its window is that of all training steps
  std::optional<Profile> profile;          ///< present with --profile; such a run does not measure throughput
  std::vector<std::string> notes;          ///< caveats to show with the rate

  /// True if the run was measured and nothing is known to have disturbed it.
  bool valid() const { return outcome.kind == OutcomeKind::ok && interference.reasons.empty(); }

  bool operator==(const RunRecord&) const = default;
};

}  // namespace tandem

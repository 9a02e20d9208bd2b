#pragma once

#include <c10/core/Device.h>

#include "comm/group.h"
#include "config/config.h"
#include "config/modes.h"
#include "data/dataset/data_split.h"
#include "data/loader/batch_maker.h"
#include "data/loader/batch_source.h"
#include "data/transform/normalizations.h"
#include "data/transform/views.h"
#include "device/memory_layout.h"
#include "device/precision.h"
#include "executor/compile/checkpointing.h"
#include "executor/executor.h"
#include "executor/select/channel_padding.h"
#include "kernels/conv/convolution.h"
#include "measure/metrics/evaluation.h"
#include "optim/optimizer.h"
#include "strategy/strategy.h"
#include "train/loss/loss.h"

namespace tandem {

/// The catalog rows that a configuration names. Code asks a row's fields how a strategy or an executor behaves, never
/// its name.
struct Setup {
  at::DeviceType device = at::kCPU;
  const ExecutorEntry* executor = nullptr;
  const Precision* precision = nullptr;               ///< its gradients travel as --gradient-precision says
  const LayoutEntry* layout = nullptr;                ///< null: "auto", measured later
  const ConvolutionAlgorithm* convolution = nullptr;  ///< likewise
  const ImagePaddingEntry* padding = nullptr;         ///< likewise
  const NormalizationEntry* normalization = nullptr;  ///< null: the data set's own
  const ViewsEntry* views = nullptr;
  const DecodingEntry* decoding = nullptr;
  const LoaderEntry* loader = nullptr;
  const DataSplitEntry* dataSplit = nullptr;  ///< null: "auto", training images
  const RecomputeEntry* recompute = nullptr;
  const CudaGraphEntry* cudaGraph = nullptr;
  const StrategyEntry* strategy = nullptr;
  AllReduceBySize allReduce;                      ///< used if the strategy all-reduces
  const CompressionEntry* compression = nullptr;  ///< used if the strategy compresses
  const OverlapEntry* overlap = nullptr;
  const LossPlacementEntry* lossPlacement = nullptr;
  const SourceEntry* source = nullptr;
  std::string sourceArgument;  ///< behind its name in --input; empty: none
  const OptimizerEntry* optimizer = nullptr;
  const ScheduleEntry* schedule = nullptr;
  const ScalingEntry* scaling = nullptr;
  const VerifyEntry* verify = nullptr;
  // Of a training:
  std::optional<DataSplit> validation;     ///< none: nothing is evaluated, or "auto"
  const EvaluationMetric* best = nullptr;  ///< null: "auto", by the head
  const LrScalingEntry* lrScaling = nullptr;
  const DecayedEntry* decayed = nullptr;
  const FrozenEntry* frozen = nullptr;
  const ResumeEntry* resume = nullptr;
  const NanPolicyEntry* onNan = nullptr;

  /// Whether processes of their own make batches.
  bool byProcesses() const { return source->byProcesses || loader->byProcesses; }
  bool onCpu() const { return device == at::kCPU; }
  /// The named layout; for "auto" the default, which counts until another one was measured to be faster.
  const LayoutEntry& firstLayout() const { return layout == nullptr ? layouts().front() : *layout; }
};

/// Looks up every row. For --all-reduce and --input, "auto" means the first row that fits the devices and the strategy,
/// or the data.
/// Throws UsageError for an unknown name. REQUIRES: --devices is valid.
Setup setupOf(const Config& config);

/// That of --data-split.
DataSplit splitOf(const Setup& setup);

/// That of --normalization; null: the data set's own.
const Normalization* normalizationOf(const Setup& setup);

/// The optimizer's options in the configuration.
OptimizerOptions optimizerOptions(const Config& config, const Setup& setup);

}  // namespace tandem

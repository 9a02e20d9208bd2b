#pragma once

#include <c10/core/Device.h>

#include "comm/group.h"
#include "config/config.h"
#include "config/modes.h"
#include "data/loader/batch_maker.h"
#include "data/loader/batch_source.h"
#include "device/memory_layout.h"
#include "device/precision.h"
#include "executor/compile/checkpointing.h"
#include "executor/executor.h"
#include "executor/select/channel_padding.h"
#include "kernels/conv/convolution.h"
#include "optim/optimizer.h"
#include "strategy/strategy.h"
#include "train/loss/loss.h"

namespace tandem {

/// The catalog rows that a configuration names. Who must know how a strategy, an executor, ... behaves asks its row.
struct Setup {
  at::DeviceType device = at::kCPU;
  const ExecutorEntry* executor = nullptr;
  const Precision* precision = nullptr;
  const LayoutEntry* layout = nullptr;                ///< null: the fastest, to be measured
  const ConvolutionAlgorithm* convolution = nullptr;  ///< null likewise
  const ImagePaddingEntry* padding = nullptr;         ///< null likewise
  const RecomputeEntry* recompute = nullptr;
  const CudaGraphEntry* cudaGraph = nullptr;
  const StrategyEntry* strategy = nullptr;
  const AllReduceEntry* allReduce = nullptr;  ///< used where the strategy all-reduces
  const OverlapEntry* overlap = nullptr;
  const LossPlacementEntry* lossPlacement = nullptr;
  const SourceEntry* source = nullptr;
  const AugmentEntry* augment = nullptr;
  const OptimizerEntry* optimizer = nullptr;
  const ScheduleEntry* schedule = nullptr;
  const ScalingEntry* scaling = nullptr;

  bool onCpu() const { return device == at::kCPU; }
  /// The layout, or the one that counts until another was measured to be faster.
  const LayoutEntry& firstLayout() const { return layout == nullptr ? layouts().front() : *layout; }
};

/// Looks up every row; "auto" stands for the first row that serves the devices or the data. Throws UsageError for an
/// unknown name. REQUIRES: --devices is valid.
Setup setupOf(const Config& config);

/// What the configuration says about the update.
OptimizerOptions optimizerOptions(const Config& config, const Setup& setup);

}  // namespace tandem

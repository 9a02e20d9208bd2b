#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "device/flat_buffers.h"

namespace tandem {

/// Learning-rate factor over the steps of a run.
struct ScheduleEntry {
  std::string_view name, summary;
  double (*factor)(int64_t step, int64_t totalSteps);  ///< totalSteps 0: unknown
  bool needsTotal;
};

/// constant, cosine (to zero at the last step), warmup-cosine (linear over the first 5 %, then cosine).
std::span<const ScheduleEntry> schedules();

struct OptimizerOptions {
  double learningRate = 0.1, momentum = 0.9, weightDecay = 0;
  bool nesterov = false;
  const ScheduleEntry* schedule = nullptr;  ///< null: constant
  int64_t totalSteps = 0;
};

/// Updates slices of one set of flat buffers; state lives in the buffers.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Allocates the state of all slices, as first use does: before several threads update slices of the same memory.
  virtual void allocateState() = 0;
  /// w of the slice becomes the weights after step `step` (from 0), from its gradient times `gradientScale`.
  virtual void update(Slice slice, int64_t step, double gradientScale) = 0;
};

/// SGD with momentum, Nesterov and weight decay (kernels/sgd.h). `buffers` must outlive it.
std::unique_ptr<Optimizer> makeSgd(FlatBuffers& buffers, const OptimizerOptions& options);

}  // namespace tandem

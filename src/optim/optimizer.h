#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "device/flat_buffers.h"
#include "optim/loss_scale.h"
#include "trace/span.h"

namespace tandem {

/// Learning-rate factor over the steps of a run.
struct ScheduleEntry {
  std::string_view name, summary;
  double (*factor)(int64_t step, int64_t totalSteps);  ///< totalSteps 0: unknown
  bool needsTotal;
};

/// constant, cosine (to zero at the last step), warmup-cosine (linear over the first 5 %, then cosine).
std::span<const ScheduleEntry> schedules();

struct OptimizerEntry;

struct OptimizerOptions {
  const OptimizerEntry* rule = nullptr;  ///< null: sgd
  double learningRate = 0.1, momentum = 0.9, weightDecay = 0;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  const ScheduleEntry* schedule = nullptr;  ///< null: constant
  int64_t totalSteps = 0;

  double rateAt(int64_t step) const;  ///< of step `step`, from 0
};

/// Updates slices of one set of flat buffers; state lies in the buffers, by weight, so slices may be cut anew at each
/// step. What differs from step to step is a function of its number alone and is brought to the buffers' device when
/// the step begins; an update reads it there, so that it is the same work in every step and can be recorded
/// (device/captured_graph.h). For one thread.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Allocates the state of all slices, as first use does: before several threads update slices of the same memory.
  virtual void allocateState() = 0;
  /// From now on gradients are of a loss with this scale, on the buffers' device, which must outlive this; null: of
  /// none.
  void setLossScale(const LossScale* scale) { lossScale_ = scale; }
  /// Updates from here on are those of step `step`, from 0, by gradients times `gradientScale`. Enqueued on the current
  /// stream, where updates of the step before may still wait for their turn.
  virtual void beginStep(int64_t step, double gradientScale) = 0;
  /// w of the slice becomes the weights after the step; with a loss scale nothing, where its step has overflowed.
  void update(Slice slice) {
    const Span updating(SpanKind::update);
    apply(slice);
  }

 protected:
  ScaledLoss scaledLoss() const { return lossScale_ == nullptr ? ScaledLoss{} : lossScale_->forKernels(); }

 private:
  virtual void apply(Slice slice) = 0;

  const LossScale* lossScale_ = nullptr;
};

/// A row of the optimizer catalog.
struct OptimizerEntry {
  std::string_view name, summary;
  double learningRate;                                   ///< where none is given; 0: the model's own
  bool usesMomentum;                                     ///< reads momentum and nesterov
  bool usesBetas;                                        ///< reads beta1, beta2 and epsilon
  int (*stateValues)(const OptimizerOptions&);           ///< fp32 values kept for each weight
  std::string (*coefficients)(const OptimizerOptions&);  ///< as people read them: "momentum 0.9"
  std::unique_ptr<Optimizer> (*make)(FlatBuffers&, const OptimizerOptions&);
};

/// sgd, adam, adamw.
std::span<const OptimizerEntry> optimizers();

/// The row that `options` names.
const OptimizerEntry& ruleOf(const OptimizerOptions& options);

/// The optimizer of that row. `buffers` must outlive it.
std::unique_ptr<Optimizer> makeOptimizer(FlatBuffers& buffers, const OptimizerOptions& options);

}  // namespace tandem

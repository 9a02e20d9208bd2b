#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "device/flat_buffers.h"
#include "optim/loss_scale.h"
#include "optim/schedule.h"
#include "trace/span.h"

namespace tandem {

struct OptimizerEntry;

struct OptimizerOptions {
  const OptimizerEntry* rule = nullptr;  ///< null: sgd
  double learningRate = 0.1, momentum = 0.9, weightDecay = 0;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  const ScheduleEntry* schedule = nullptr;                  ///< null: constant
  RateCourse course = {};                                   ///< of the schedule
  int64_t updatesPerStep = 1;                               ///< that a step of the schedule has
  std::shared_ptr<const ScheduleBegin> scheduleBegin = {};  ///< null: it begins with the first update
  std::shared_ptr<const RateFactor> rateFactor = {};        ///< null: none

  /// For update `update`, from 0: learningRate, times the factors of the schedule and of rateFactor.
  double rateAt(int64_t update) const;
};

/// Updates slices of one set of flat buffers. State lies in the buffers, per weight, so every step may be cut into
/// other slices. Hyperparameters that change are functions of the step's number, of where the schedule begins, and of
/// RateFactor.
/// beginStep() copies them to the buffers' device, and updates read them there. So every step is the same work and can
/// be captured (device/captured_graph.h). For one thread.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Allocates the state of all slices at once. Call it before several threads update slices of the same memory.
  virtual void allocateState() = 0;
  /// Gradients from now on are those of a loss with this scale; null: unscaled. The scale lies on the buffers' device
  /// and must outlive this object.
  void setLossScale(const LossScale* scale) { lossScale_ = scale; }
  /// Begins step `step`, from 0; gradients are multiplied by `gradientScale`. Enqueued on the current stream, because
  /// updates of the step before may still be waiting there.
  virtual void beginStep(int64_t step, double gradientScale) = 0;
  /// Applies the step to the slice's weights. With a loss scale and an overflow in this step, does nothing.
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
  /// The same rule by ATen, in the buffers' master type: the oracle. It knows no loss scale.
  std::unique_ptr<Optimizer> (*makeReference)(FlatBuffers&, const OptimizerOptions&);
};

/// sgd, adam, adamw.
std::span<const OptimizerEntry> optimizers();

/// The row of `options`.
const OptimizerEntry& ruleOf(const OptimizerOptions& options);

/// An optimizer of that row. `buffers` must outlive it.
std::unique_ptr<Optimizer> makeOptimizer(FlatBuffers& buffers, const OptimizerOptions& options);

}  // namespace tandem

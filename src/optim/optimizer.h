#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "device/flat_buffers.h"
#include "optim/loss_scale.h"
#include "trace/span.h"

namespace tandem {

/// A row of the schedule catalog: the learning-rate factor over the steps of a run.
struct ScheduleEntry {
  std::string_view name, summary;
  double (*factor)(int64_t step, int64_t totalSteps);  ///< totalSteps 0: unknown
  bool needsTotal;                                     ///< refused without --steps (run/plan/rules.cpp)
};

/// constant, cosine (to zero at the last step), warmup-cosine (linear over the first 5 %, then cosine).
std::span<const ScheduleEntry> schedules();

/// The update at which the schedule of a run begins. Until it is known the schedule stays at its first value. Set by
/// one thread; any thread may read it.
class ScheduleBegin {
 public:
  void set(int64_t update) { update_.store(update); }
  /// The schedule's step of update `update`, both from 0.
  int64_t stepOf(int64_t update) const { return std::max<int64_t>(0, update - update_.load()); }

 private:
  std::atomic<int64_t> update_{std::numeric_limits<int64_t>::max()};
};

struct OptimizerEntry;

struct OptimizerOptions {
  const OptimizerEntry* rule = nullptr;  ///< null: sgd
  double learningRate = 0.1, momentum = 0.9, weightDecay = 0;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  const ScheduleEntry* schedule = nullptr;                  ///< null: constant
  int64_t totalSteps = 0;                                   ///< of the schedule
  int64_t updatesPerStep = 1;                               ///< that a step of the schedule has
  std::shared_ptr<const ScheduleBegin> scheduleBegin = {};  ///< null: it begins with the first update

  double rateAt(int64_t update) const;  ///< for update `update`, from 0
};

/// Updates slices of one set of flat buffers. State lies in the buffers, per weight, so every step may be cut into
/// other slices. Hyperparameters that change are functions of the step's number and of where the schedule begins.
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

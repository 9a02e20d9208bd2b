#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/flat_buffers.h"
#include "kernels/optimizer/weight_average.h"
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
  double squareDecay = 0.9;                                 ///< of rmsprop's mean of squares
  double trust = 0.001;                                     ///< of lars: You et al.'s trust coefficient
  double clipNorm = 0;                                      ///< the most that the norm of all gradients may be; 0: any
  WeightAverage average = {};                               ///< over the updates' weights
  bool decaysWeightsAlone = false;                          ///< weight decay is for ParameterSpec::isWeight alone
  bool trainsHeadAlone = false;                             ///< others than ParameterSpec::isHead are not updated
  double shiftRate = 1;                                     ///< factor of the rate of ParameterSpec::isShift
  int64_t whiteningSteps = 0;                               ///< in which ParameterSpec::whitens is updated; 0: all
  const ScheduleEntry* schedule = nullptr;                  ///< null: constant
  RateCourse course = {};                                   ///< of the schedule
  int64_t updatesPerStep = 1;                               ///< that a step of the schedule has
  std::shared_ptr<const ScheduleBegin> scheduleBegin = {};  ///< null: it begins with the first update
  std::shared_ptr<const RateFactor> rateFactor = {};        ///< null: none

  /// For update `update`, from 0: learningRate, times the factors of the schedule and of rateFactor.
  double rateAt(int64_t update) const;
};

/// What some parameters have otherwise than the rest.
struct PartRule {
  bool decays = true;   ///< weight decay is for them
  double rate = 1;      ///< factor of the learning rate; an update decays weights as much as with 1
  int64_t updates = 0;  ///< the first so many change them; 0: all do

  bool operator==(const PartRule&) const = default;
};

/// Hyperparameters of an update for parameters with a rule. Where it changes nothing, all are 0.
struct PartStep {
  double rate = 0, momentum = 0, weightDecay = 0;
};

/// Updates slices of one set of flat buffers. State lies in the buffers, per weight, so every step may be cut into
/// other slices; with OptimizerEntry::needsWholeParameters, at borders of parameters. Hyperparameters that change are
/// functions of the step's number, of where the schedule begins, and of RateFactor. beginStep() copies them to the
/// buffers' device, and updates read them there. So every step is the same work and can be captured
/// (device/captured_graph.h). For one thread.
class Optimizer {
 public:
  /// `buffers` must outlive it.
  Optimizer(FlatBuffers& buffers, const OptimizerOptions& options);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// The number of states that it keeps per weight.
  int states() const;
  /// Allocates the state of all slices at once. Call it before several threads update slices of the same memory.
  void allocateState();
  /// Gradients from now on are those of a loss with this scale; null: unscaled. The scale lies on the buffers' device
  /// and must outlive this object.
  void setLossScale(const LossScale* scale) { lossScale_ = scale; }
  /// Begins step `step`, from 0; gradients are multiplied by `gradientScale`, which is the same in every step. Enqueued
  /// on the current stream, because updates of the step before may still be waiting there.
  void beginStep(int64_t step, double gradientScale);
  /// Applies the step to the slice's weights that are trained. With a loss scale and an overflow in this step, does
  /// nothing. REQUIRES: with clips(), clip() was called in this step.
  void update(Slice slice);

  /// Whether gradients are clipped by their norm. Then each step measures all of them and calls clip() before its first
  /// update.
  bool clips() const { return clip_.defined(); }
  /// Adds the squares of the slice's gradients to those of this step, as far as they are trained. On the device.
  void measure(Slice slice);
  /// [] fp64 on the buffers' device: the sum of what this object has measured since beginStep(). The same memory in all
  /// steps. REQUIRES: clips().
  const at::Tensor& squares() const { return squares_; }
  /// Clips this step's gradients as torch.nn.utils.clip_grad_norm_: by min(1, clipNorm / (norm + 1e-6)), where norm is
  /// that of all gradients after gradientScale and without the loss scale. `squares`: [] fp64, the sum over all.
  void clip(const at::Tensor& squares);

 protected:
  const OptimizerOptions& options() const { return options_; }
  FlatBuffers& buffers() const { return buffers_; }
  ScaledLoss scaledLoss() const { return lossScale_ == nullptr ? ScaledLoss{} : lossScale_->forKernels(); }
  /// Device address of the factor by which gradients are clipped; null: they are not.
  const float* clipFactor() const { return clip_.defined() ? clip_.const_data_ptr<float>() : nullptr; }
  /// The same on the host, which waits for the device.
  double clipFactorOnHost() const;
  /// The norm of a gradient in the buffers: [] fp64, after gradientScale and clipping, without the loss scale.
  at::Tensor gradientNorm(const at::Tensor& gradient) const;
  /// Parameters that follow one another and have one rule.
  struct Part {
    Slice slice;
    size_t rule = 0;  ///< index in partRules()
  };
  /// The different ones, at least one.
  std::span<const PartRule> partRules() const { return rules_; }
  bool decays(const Part& part) const { return rules_[part.rule].decays; }
  /// The weight decay of the rule with this index, which the rate multiplies.
  double weightDecay(size_t rule) const { return rules_[rule].decays ? options_.weightDecay / rules_[rule].rate : 0; }
  /// Of the rule with this index.
  PartStep partStep(size_t rule, int64_t update) const;

 private:
  virtual void begin(int64_t step, double gradientScale) = 0;
  /// Updates a part, or what a slice has of it; with OptimizerEntry::needsWholeParameters one whole parameter.
  virtual void apply(const Part& part) = 0;
  /// Calls body(what the slice has of it, whole part) for each part that the slice overlaps.
  template <class Body>
  void eachPart(Slice slice, const Body& body) const;

  /// A norm of gradients in the buffers after gradientScale and without the loss scale, not clipped.
  at::Tensor scaledNorm(const at::Tensor& norm) const;

  FlatBuffers& buffers_;
  const OptimizerOptions options_;
  std::vector<PartRule> rules_;
  std::vector<std::vector<Part>> parts_;  // of each segment, rising
  const LossScale* lossScale_ = nullptr;
  at::Tensor squares_, clip_;  // [] fp64 and [] fp32; undefined: gradients are not clipped
  double gradientScale_ = 1;
  bool isFirstStep_ = false;
  AverageStep averageStep_;
};

/// A row of the optimizer catalog.
struct OptimizerEntry {
  std::string_view name, summary;
  double learningRate = 0;            ///< where none is given; 0: the model's own
  bool usesMomentum = false;          ///< reads momentum
  bool usesNesterov = false;          ///< reads nesterov
  bool usesBetas = false;             ///< reads beta1 and beta2
  bool usesEpsilon = false;           ///< reads epsilon
  bool usesSquareDecay = false;       ///< reads squareDecay
  bool usesTrust = false;             ///< reads trust
  bool needsWholeParameters = false;  ///< an update reads the norm of a parameter, so none may be cut
  int (*stateValues)(const OptimizerOptions&) = nullptr;           ///< fp32 values kept for each weight, by the rule
  std::string (*coefficients)(const OptimizerOptions&) = nullptr;  ///< as people read them: "momentum 0.9"
  std::unique_ptr<Optimizer> (*make)(FlatBuffers&, const OptimizerOptions&) = nullptr;
  /// The same rule by ATen, in the buffers' master type: the oracle. It knows no loss scale.
  std::unique_ptr<Optimizer> (*makeReference)(FlatBuffers&, const OptimizerOptions&) = nullptr;
};

/// sgd, adam, adamw, rmsprop, lars, lamb.
std::span<const OptimizerEntry> optimizers();

/// The row of `options`.
const OptimizerEntry& ruleOf(const OptimizerOptions& options);

/// fp32 values that the flat buffers keep for each weight: those of the rule, and the average.
int stateValues(const OptimizerOptions& options);

/// An optimizer of that row. `buffers` must outlive it.
std::unique_ptr<Optimizer> makeOptimizer(FlatBuffers& buffers, const OptimizerOptions& options);

/// The number of the flat buffers' state that holds the average over the updates' weights. Updates that a loss scale
/// left out count too. REQUIRES: average.isKept().
int averageState(const OptimizerOptions& options);

/// Exchanges masters and that average, and rounds the masters into the weights. So a network is evaluated with the
/// average; a second call undoes the first. REQUIRES: no step goes on, and nobody else does this with the same memory.
void swapAverage(FlatBuffers& buffers, const OptimizerOptions& options);

}  // namespace tandem

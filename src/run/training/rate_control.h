#pragma once

#include <nlohmann/json.hpp>

#include "optim/plateau.h"
#include "run/plan/plan.h"

namespace tandem {

/// The factor of a training's learning rate that depends on how it goes: by --schedule=plateau, and by --on-nan=back.
/// For one thread.
class RateControl {
 public:
  explicit RateControl(const RunPlan& plan)
      : follows_(plan.setup.schedule->followsLoss),
        plateau_(plan.config.training.patience, plan.config.training.lrFactor) {}

  double factor() const { return plateau_.state().factor * backs_; }
  /// Takes the loss of an evaluation.
  void evaluated(double loss) {
    if (follows_) plateau_.after(loss);
  }
  /// The training has gone back to a checkpoint.
  void wentBack() { backs_ /= 2; }

  /// What a checkpoint keeps of it.
  nlohmann::json state() const;
  void restore(const nlohmann::json& state);

 private:
  bool follows_;
  Plateau plateau_;
  double backs_ = 1;
};

}  // namespace tandem

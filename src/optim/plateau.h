#pragma once

#include <cstdint>

namespace tandem {

/// The rule of PyTorch's ReduceLROnPlateau, with mode min and a relative threshold of 1e-4: a loss is better if it is
/// below (1 - 1e-4) times the best. After more than `patience` losses in a row that are not better the rate falls by
/// `factor`, and the count begins anew. For one thread.
class Plateau {
 public:
  /// What a training must keep to go on.
  struct State {
    bool hasBest = false;  ///< whether there was a loss
    double best = 0;       ///< of all losses, in this sense
    int64_t waits = 0;     ///< losses since then, or since the last fall
    double factor = 1;     ///< of the rate, by all falls
  };

  Plateau(int64_t patience, double factor) : patience_(patience), fall_(factor) {}

  /// Takes the loss of an evaluation; NaN is not better. Returns the factor of the rate so far (RateFactor).
  double after(double loss);

  const State& state() const { return state_; }
  void restore(const State& state) { state_ = state; }

 private:
  int64_t patience_;
  double fall_;
  State state_;
};

}  // namespace tandem

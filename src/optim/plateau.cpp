#include "optim/plateau.h"

#include <cmath>

namespace tandem {
namespace {

constexpr double threshold = 1e-4;

}  // namespace

double Plateau::after(double loss) {
  const bool better = state_.hasBest ? loss < state_.best * (1 - threshold) : !std::isnan(loss);
  if (better) {
    state_.hasBest = true, state_.best = loss, state_.waits = 0;
  } else if (++state_.waits > patience_) {
    state_.factor *= fall_, state_.waits = 0;
  }
  return state_.factor;
}

}  // namespace tandem

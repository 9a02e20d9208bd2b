#include "run/training/rate_control.h"

namespace tandem {

nlohmann::json RateControl::state() const {
  const Plateau::State& state = plateau_.state();
  return {{"has_best", state.hasBest},
          {"best", state.best},
          {"waits", state.waits},
          {"factor", state.factor},
          {"of_going_back", backs_}};
}

void RateControl::restore(const nlohmann::json& state) {
  plateau_.restore({.hasBest = state.at("has_best"),
                    .best = state.at("best"),
                    .waits = state.at("waits"),
                    .factor = state.at("factor")});
  backs_ = state.at("of_going_back");
}

}  // namespace tandem

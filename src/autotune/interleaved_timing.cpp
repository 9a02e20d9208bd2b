#include "autotune/interleaved_timing.h"

#include <algorithm>

#include "base/clock.h"
#include "base/statistics.h"

namespace tandem {
namespace {

/// Of each number over all turns.
template <class Summary>
std::vector<double> overTurns(const std::vector<std::vector<double>>& turns, const Summary& summary) {
  std::vector<double> all;
  const size_t numbers = turns.empty() ? 0 : turns.front().size();
  for (size_t i = 0; i < numbers; ++i) {
    std::vector<double> values;
    for (const std::vector<double>& turn : turns) values.push_back(turn.at(i));
    all.push_back(summary(values));
  }
  return all;
}

}  // namespace

bool MeasuredWay::takeTurn() {
  std::vector<double> numbers = turn();
  if (numbers.empty()) {
    isOut = true;
    turns.clear();
    return false;
  }
  turns.push_back(std::move(numbers));
  return true;
}

std::vector<double> MeasuredWay::least() const {
  return overTurns(turns, [](const std::vector<double>& values) { return *std::ranges::min_element(values); });
}

std::vector<double> MeasuredWay::medians() const {
  return overTurns(turns, [](const std::vector<double>& values) { return *median(values); });
}

void takeTurns(std::span<MeasuredWay> ways, const Rounds& rounds) {
  const Nanos begin = now();
  const auto isEnough = [&](int done) {
    return done >= rounds.most || (done >= rounds.least && seconds(now() - begin) >= rounds.enoughSeconds);
  };
  for (int round = 0; !isEnough(round); ++round) {
    for (MeasuredWay& way : ways) {
      if (!way.isOut) way.takeTurn();
    }
  }
}

}  // namespace tandem

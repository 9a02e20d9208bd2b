#include "measure/metrics/change_point.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/statistics.h"

namespace tandem {
namespace {

constexpr size_t fewestValues = 20;
constexpr size_t fewestOfSide = 5;
constexpr double fewestDeviations = 4;

/// Ranks in the sorted series, less their mean. Equal values share the mean of their ranks.
std::vector<double> centredRanks(std::span<const double> series) {
  std::vector<size_t> order(series.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return series[i]; });
  std::vector<double> ranks(series.size());
  const double middle = static_cast<double>(series.size() - 1) / 2;
  for (size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && series[order[last]] == series[order[first]]) ++last;
    for (size_t i = first; i < last; ++i) ranks[order[i]] = static_cast<double>(first + last - 1) / 2 - middle;
  }
  return ranks;
}

struct Split {
  size_t at = 0;
  double distance = 0;  ///< weighted distance of that sum from 0
};

Split clearestSplit(std::span<const double> ranks) {
  const size_t edge = std::max(fewestOfSide, ranks.size() / 20);
  Split best;
  double sum = 0;
  for (size_t i = 0; i + edge < ranks.size(); ++i) {
    sum += ranks[i];
    if (i + 1 < edge) continue;
    const double before = static_cast<double>(i + 1), all = static_cast<double>(ranks.size());
    const double distance = std::abs(sum) / std::sqrt(before * (all - before) / all);
    if (distance > best.distance) best = {i + 1, distance};
  }
  return best;
}

/// Deviation of the ranks about the means of their two sides. It is scaled so that it gives the error of the mean.
double deviationAbout(std::vector<double> ranks, size_t at) {
  for (const std::span<double> side : {std::span(ranks).first(at), std::span(ranks).subspan(at)}) {
    const double level = *mean(side);
    for (double& rank : side) rank -= level;
  }
  return estimateMean(ranks)->standardError * std::sqrt(static_cast<double>(ranks.size()));
}

}  // namespace

std::optional<ChangePoint> changeIn(std::span<const double> series, double least) {
  if (series.size() < fewestValues) return std::nullopt;
  const std::vector<double> ranks = centredRanks(series);
  const Split split = clearestSplit(ranks);
  if (split.distance == 0) return std::nullopt;
  const ChangePoint change{split.at, *median(series.first(split.at)), *median(series.subspan(split.at))};
  if (std::abs(change.after - change.before) <= least * std::min(change.before, change.after)) return std::nullopt;
  if (split.distance <= fewestDeviations * deviationAbout(ranks, split.at)) return std::nullopt;
  return change;
}

}  // namespace tandem

#include "run/links/link_arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "base/statistics.h"

namespace tandem {
namespace {

constexpr double confidence = 0.95;

double sizeOf(const LinkTimes& times) { return static_cast<double>(times.bytes); }

/// The value at `x` of the line through (x0, y0) and (x1, y1).
double onLine(double x, double x0, double y0, double x1, double y1) {
  return x1 == x0 ? y1 : y0 + (x - x0) * (y1 - y0) / (x1 - x0);
}

/// sharedBy()'s words, the smallest part first.
constexpr std::array<std::string_view, 7> levels{"core", "L2", "L3", "L4", "NUMA node", "socket", "machine"};

size_t levelOf(std::string_view part) { return static_cast<size_t>(std::ranges::find(levels, part) - levels.begin()); }

}  // namespace

double typicalSeconds(const LinkTimes& times) {
  const auto middle = median(times.seconds);
  check(middle.has_value(), "a size of a link has a time");
  return *middle;
}

size_t rankOfMedianInterval(size_t values) {
  double term = std::exp2(-static_cast<double>(values)), below = 0;  // P(Binomial = i), P(Binomial < i + 1)
  for (size_t i = 0; i < values; ++i) {
    below += term;
    if (below > (1 - confidence) / 2) return i;
    term *= static_cast<double>(values - i) / static_cast<double>(i + 1);
  }
  return 0;
}

std::optional<double> spreadPercent(const LinkTimes& times) {
  const size_t rank = rankOfMedianInterval(times.seconds.size());
  if (rank == 0) return std::nullopt;
  const double middle = typicalSeconds(times);
  std::vector<double> sorted = times.seconds;
  std::ranges::sort(sorted);
  const double far = std::max(middle - sorted[rank - 1], sorted[sorted.size() - rank] - middle);
  return middle > 0 ? std::optional(100 * far / middle) : std::nullopt;
}

double algorithmBandwidth(const LinkSeries& series, const LinkTimes& times) {
  const double seconds = typicalSeconds(times);
  return seconds > 0 ? series.copies * sizeOf(times) / seconds : 0;
}

double busBandwidth(const LinkSeries& series, const LinkTimes& times) {
  return algorithmBandwidth(series, times) * linkKind(series.kind).busFactor(series.parties);
}

const LinkTimes* fastestSize(const LinkSeries& series) {
  const LinkTimes* best = nullptr;
  for (const LinkTimes& times : series.times) {
    if (best == nullptr || algorithmBandwidth(series, times) > algorithmBandwidth(series, *best)) best = &times;
  }
  return best;
}

double secondsAt(const LinkSeries& series, double bytes) {
  const std::vector<LinkTimes>& times = series.times;
  check(!times.empty(), "a link that is asked for a time has times");
  if (bytes <= sizeOf(times.front())) return typicalSeconds(times.front());
  for (size_t i = 1; i < times.size(); ++i) {
    if (bytes > sizeOf(times[i])) continue;
    return onLine(bytes, sizeOf(times[i - 1]), typicalSeconds(times[i - 1]), sizeOf(times[i]),
                  typicalSeconds(times[i]));
  }
  return typicalSeconds(times.back()) * bytes / sizeOf(times.back());
}

bool isBeyond(const LinkSeries& series, double bytes) { return bytes > sizeOf(series.times.back()); }

double largestWithin(const LinkSeries& series, double seconds) {
  const std::vector<LinkTimes>& times = series.times;
  if (times.empty()) return 0;
  const double last = typicalSeconds(times.back());
  if (last <= seconds) return last > 0 ? sizeOf(times.back()) * seconds / last : sizeOf(times.back());
  for (size_t i = times.size() - 1; i-- > 0;) {
    const double at = typicalSeconds(times[i]);
    if (at > seconds) continue;
    return onLine(seconds, at, sizeOf(times[i]), typicalSeconds(times[i + 1]), sizeOf(times[i + 1]));
  }
  return 0;
}

const LinkSeries* fastestWay(std::span<const LinkSeries* const> ways, double bytes) {
  const LinkSeries* best = nullptr;
  for (const LinkSeries* way : ways) {
    if (way->times.empty()) continue;
    if (best == nullptr || secondsAt(*way, bytes) < secondsAt(*best, bytes)) best = way;
  }
  return best;
}

double pcieBandwidth(int64_t generation, int64_t lanes) {
  constexpr std::array<double, 7> perLane{0,
                                          2.5e9 * 8 / 10 / 8,
                                          5e9 * 8 / 10 / 8,
                                          8e9 * 128 / 130 / 8,
                                          16e9 * 128 / 130 / 8,
                                          32e9 * 128 / 130 / 8,
                                          64e9 * 242 / 256 / 8};
  if (generation < 1 || generation >= std::ssize(perLane) || lanes < 1) return 0;
  return perLane[static_cast<size_t>(generation)] * static_cast<double>(lanes);
}

std::vector<CorePart> joinedCores(const std::vector<std::vector<std::string>>& shared, size_t most) {
  std::vector<CorePart> parts;
  for (size_t core = 0; core < shared.size(); ++core) parts.push_back({core, core});
  const auto between = [&](const CorePart& a, const CorePart& b) { return levelOf(shared[a.first][b.first]); };
  for (size_t level = 0; parts.size() > most && level <= levels.size(); ++level) {
    std::vector<CorePart> joined{parts.front()};
    for (size_t i = 1; i < parts.size(); ++i) {
      if (between(joined.back(), parts[i]) <= level) {
        joined.back().last = parts[i].last;
      } else {
        joined.push_back(parts[i]);
      }
    }
    parts = std::move(joined);
  }
  return parts;
}

}  // namespace tandem

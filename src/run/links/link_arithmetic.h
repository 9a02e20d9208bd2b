#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/links/link_series.h"

namespace tandem {

/// Arithmetic over the times of links. Pure functions; bandwidths are bytes per second.

/// Median over the repetitions, in seconds. REQUIRES: there is one.
double typicalSeconds(const LinkTimes& times);

/// The k for which the k-th smallest and the k-th largest of n values enclose the median of what they are drawn from,
/// with a probability of 95 % or more, whatever its distribution: the largest k with P(Binomial(n, 1/2) < k) <= 2.5 %.
/// Source: Hahn & Meeker, Statistical Intervals (1991), 5.2. 0 below six values, which are too few.
size_t rankOfMedianInterval(size_t values);

/// The larger distance from the median to an end of its 95 % interval, in % of the median. A few repetitions that
/// something disturbed do not change it, nor the median. Empty below six repetitions.
std::optional<double> spreadPercent(const LinkTimes& times);

/// Algorithm bandwidth: bytes of all copies that are under way at once, over the median time. 0 if that is 0.
double algorithmBandwidth(const LinkSeries& series, const LinkTimes& times);

/// Bus bandwidth: algorithm bandwidth x busFactor of the kind. For an all-reduce of n parties 2 (n - 1) / n. Source:
/// the page doc/PERFORMANCE.md of NVIDIA/nccl-tests.
double busBandwidth(const LinkSeries& series, const LinkTimes& times);

/// The largest algorithm bandwidth of any size of the series. Null if it has no times.
const LinkTimes* fastestSize(const LinkSeries& series);

/// Seconds of a transfer of `bytes`, from the medians of the measured sizes. Between two sizes on the straight line
/// through them, because time is overhead + bytes / bandwidth. Below the smallest its time. Above the largest in
/// proportion to its time. REQUIRES: the series has times, by rising size.
double secondsAt(const LinkSeries& series, double bytes);

/// Whether secondsAt() is not between two measured sizes but beyond the largest.
bool isBeyond(const LinkSeries& series, double bytes);

/// The largest transfer that takes at most `seconds`, in bytes, by the lines of secondsAt(); 0 if the smallest takes
/// longer. Where noise makes a larger size faster, the larger one counts.
double largestWithin(const LinkSeries& series, double seconds);

/// The series that transfers `bytes` in the least time; null if there is none. They are ways of one link.
const LinkSeries* fastestWay(std::span<const LinkSeries* const> ways, double bytes);

/// Bytes per second of a PCIe link in one direction, after its encoding; 0 if generation or lanes are not known.
/// Source: PCI-SIG, 2.5, 5, 8, 16, 32 and 64 GT/s per lane; 8b/10b, from generation 3 on 128b/130b, from 6 on 242/256.
double pcieBandwidth(int64_t generation, int64_t lanes);

/// A group of neighbouring cores in the matrix of what cores share.
struct CorePart {
  size_t first = 0, last = 0;  ///< positions in the matrix, both included
};

/// Neighbouring cores that share the smallest part are joined, level by level, until at most `most` are left. `shared`
/// is what each two of them share (sharedByPairs()).
std::vector<CorePart> joinedCores(const std::vector<std::vector<std::string>>& shared, size_t most);

}  // namespace tandem

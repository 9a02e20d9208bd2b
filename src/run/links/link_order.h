#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "run/links/link_series.h"
#include "run/links/repetitions.h"

namespace tandem {

/// Processes between which ranks are measured.
constexpr int ranksOfLinks = 2;

/// What a process shall measure; one JSON object.
struct LinkOrder {
  std::string part;                    ///< a row of the parts, in measure_links.cpp
  std::vector<int64_t> sizes = {};     ///< bytes, rising
  int64_t repeats = 20;                ///< repetitions of a size at most
  double seconds = 1;                  ///< for the whole part
  std::vector<int64_t> replicas = {};  ///< numbers of replicas
  std::vector<int> gpus = {};          ///< ordinals; empty: the CPU
  int rank = 0;                        ///< of this process, for a part with several
  int port = 0;                        ///< where the ranks meet

  bool operator==(const LinkOrder&) const = default;
};

std::string textOf(const LinkOrder& order);
/// Throws UsageError if the text is no order.
LinkOrder orderOfLinks(const std::string& text);

/// The limits of one size, if the part has so many series.
RepetitionLimits limitsOf(const LinkOrder& order, size_t series);

/// Gets a finished series.
using LinkSink = std::function<void(const LinkSeries&)>;

/// The replicas of cores that a link part looks at: 2, 4, 8, ... and all. Empty below two cores.
std::vector<int64_t> replicaNumbers(int64_t cores);

/// Two hardware threads and what they share.
struct ThreadPair {
  int writer = 0, reader = 0;
  std::string shares;  ///< sharedBy()'s word

  bool operator==(const ThreadPair&) const = default;
};

/// The first pair of `threads` for each kind of part that two of them share. `shared`: sharedByPairs() of them.
std::vector<ThreadPair> pairsByPart(const std::vector<int>& threads,
                                    const std::vector<std::vector<std::string>>& shared);

/// The parts. Each runs in a process of its own, hands on each series when it is measured, and throws what fails.

/// A flag handed over, and memory read, between two cores for each part of the machine that two cores share.
void measureCores(const LinkOrder& order, const LinkSink& sink);
/// All-reduces by every algorithm that runs on the order's devices and sums with the group. Checks a sum of each.
void measureReplicas(const LinkOrder& order, const LinkSink& sink);
/// An all-reduce and a broadcast between two processes by Gloo over loopback. Rank 0 hands the series on.
void measureRanks(const LinkOrder& order, const LinkSink& sink);
/// Copies between host and GPUs and between GPUs, by CUDA's runtime. None in a build without CUDA.
void measureGpuCopies(const LinkOrder& order, const LinkSink& sink);

}  // namespace tandem

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "comm/rank_place.h"
#include "run/links/link_series.h"

namespace tandem {

/// What `tandem links` measures.
struct LinksRequest {
  std::vector<int64_t> sizes = {};     ///< bytes, rising, multiples of 4
  int64_t repeats = 20;                ///< repetitions of a size at most
  double seconds = 20;                 ///< for all parts together, without the start of processes
  bool cpu = true;                     ///< cores, replicas on them, ranks
  std::vector<int64_t> replicas = {};  ///< numbers of replicas on cores; empty: they are not measured
  std::vector<int> gpus = {};          ///< ordinals
};

struct MeasuredLinks {
  std::vector<LinkSeries> series;
  bool stopped = false;  ///< PointRunner::requestStop() ended it; the series until then are there
};

/// Bytes that the largest of its transfers takes: a tensor, and as much for the algorithm, for each party.
int64_t bytesOfLinks(const LinksRequest& request);

/// Throws UsageError if the largest size needs more than `available` bytes.
void checkLinkMemory(const LinksRequest& request, int64_t available);

/// Measures part by part, each in child processes that die with this one. This process makes no tensor. `doing` is told
/// each part before it starts. `executable`: path of this program. Throws what a part failed of, and InvalidMeasurement
/// if one does not end.
MeasuredLinks measureLinks(const std::string& executable, const LinksRequest& request,
                           const std::function<void(const std::string&)>& doing);

/// Measures all-reduce and broadcast between the ranks that a launcher started, in this process, which is the rank of
/// `place`. Collective. The series are there on rank 0 alone. Throws as meetRanks(), and PeerError if a rank is lost.
std::vector<LinkSeries> measureLaunchedRanks(const RankPlace& place, const LinksRequest& request);

/// The child's side, the hidden command `links-worker`: reads an order from standard input, and writes series or its
/// failure to descriptor 3. Returns the exit code. Throws UsageError if no measureLinks() started it.
int runLinksWorker();

}  // namespace tandem

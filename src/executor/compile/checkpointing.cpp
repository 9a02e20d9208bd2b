#include "executor/compile/checkpointing.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "executor/compile/liveness.h"
#include "graph/operation.h"

namespace tandem {
namespace {

size_t at(NodeId value) { return static_cast<size_t>(value); }

std::vector<size_t> nowhere(const Activations&) { return {}; }

/// Cuts before each batch-norm: what lies between convolutions is cheap to recompute, their outputs are not.
std::vector<size_t> beforeEachNorm(const Activations& a) {
  std::vector<size_t> cuts;
  for (size_t i = 1; i < a.calls.size(); ++i) {
    if (a.calls[i].operation->traits.batchNorm) cuts.push_back(i);
  }
  return cuts;
}

/// The calls before which only one value is alive, besides the images, which stay in any case.
std::vector<size_t> narrowPlaces(const Activations& a) {
  std::vector<size_t> places;
  for (size_t i = 1; i < a.calls.size(); ++i) {
    int crossing = 0;
    for (size_t value = 1; value < a.bytes.size(); ++value) {
      const bool made = a.maker[value] >= 0 && a.maker[value] < static_cast<int>(i);
      crossing += made && a.lastReader[value] >= static_cast<int>(i) ? 1 : 0;
    }
    if (crossing == 1) places.push_back(i);
  }
  return places;
}

/// The bytes that each call adds to what is kept if nothing is recomputed.
std::vector<int64_t> addedBytes(const Activations& a) {
  std::vector<bool> read(a.bytes.size(), false);
  for (const OpLiveness& call : a.calls) {
    for (const NodeId value : call.read) read[at(value)] = true;
  }
  std::vector<int64_t> added;
  for (size_t i = 0; i < a.calls.size(); ++i) {
    const size_t output = at(a.plan[i].output);
    added.push_back(a.calls[i].ownBytes + (read[output] ? a.bytes[output] : 0));
  }
  return added;
}

/// Segments of about equal bytes, cut at narrow places (Chen et al. 2016, arXiv:1604.06174, algorithm 3). Of all
/// numbers of segments it takes the one that keeps the fewest bytes.
std::vector<size_t> sublinear(const Activations& a) {
  const auto places = narrowPlaces(a);
  const auto added = addedBytes(a);
  const int64_t total = std::accumulate(added.begin(), added.end(), int64_t{0});
  std::vector<size_t> best;
  int64_t least = keptBytes(a, recomputation(a, best));
  for (size_t pieces = 2; pieces <= places.size() + 1; ++pieces) {
    const int64_t budget = total / static_cast<int64_t>(pieces);
    std::vector<size_t> cuts;
    int64_t bytes = 0;
    for (size_t i = 0; i < added.size(); ++i) {
      if (bytes >= budget && std::ranges::binary_search(places, i)) {
        cuts.push_back(i);
        bytes = 0;
      }
      bytes += added[i];
    }
    const int64_t kept = keptBytes(a, recomputation(a, cuts));
    if (kept < least) {
      least = kept;
      best = cuts;
    }
  }
  return best;
}

constexpr std::array<RecomputeEntry, 3> rows{{
    {"none", "all that backward reads is kept", nowhere},
    {"norm", "what lies between convolutions with batch-norm is computed again: it costs little", beforeEachNorm},
    {"segments", "only what crosses some narrow places of the network is kept, all else computed again", sublinear},
}};

}  // namespace

std::span<const RecomputeEntry> recomputes() { return rows; }

Recomputation recomputation(const Activations& a, const std::vector<size_t>& cuts) {
  Recomputation result{{}, std::vector<bool>(a.calls.size(), false), std::vector<bool>(a.bytes.size(), false)};
  size_t begin = 0;
  for (const size_t cut : cuts) {
    result.segments.push_back({begin, cut});
    begin = cut;
  }
  result.segments.push_back({begin, a.calls.size()});
  // From the last segment to the first: what a later segment keeps need not be recomputed in an earlier one.
  for (size_t s = result.segments.size(); s-- > 0;) {
    const auto [first, end] = result.segments[s];
    std::vector<bool> wanted(a.bytes.size(), false);
    for (size_t i = end; i-- > first;) {
      for (const NodeId value : a.calls[i].read) wanted[at(value)] = true;
      const size_t output = at(a.plan[i].output);
      const bool missing = wanted[output] && !result.kept[output];
      result.again[i] = result.repeats(i) && (missing || (a.calls[i].backward && a.calls[i].onlyForwardKeeps));
      if (!result.again[i]) continue;
      for (const NodeId input : a.plan[i].inputs) wanted[at(input)] = true;
    }
    for (size_t value = 0; value < wanted.size(); ++value) {
      if (wanted[value] && a.maker[value] < static_cast<int>(first)) result.kept[value] = true;
    }
  }
  return result;
}

int64_t keptBytes(const Activations& a, const Recomputation& r) {
  int64_t most = 0;
  for (const auto& [first, end] : r.segments) {
    std::vector<bool> held(r.kept);
    for (size_t value = 0; value < held.size(); ++value) {
      held[value] = held[value] && a.maker[value] < static_cast<int>(end);
    }
    int64_t bytes = 0;
    for (size_t i = first; i < end; ++i) {
      bytes += a.calls[i].ownBytes;
      for (const NodeId value : a.calls[i].read) held[at(value)] = true;
    }
    for (size_t value = 0; value < held.size(); ++value) bytes += held[value] ? a.bytes[value] : 0;
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace tandem

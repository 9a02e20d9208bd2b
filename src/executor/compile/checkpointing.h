#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tandem {

struct Activations;  // executor/compile/liveness.h

/// A way of keeping less for backward: the plan is cut into segments; of all but the last only what crosses a cut and
/// is asked for is kept, and a segment's forward runs again when backward comes to it. Gradients stay the same to the
/// bit.
struct RecomputeEntry {
  std::string_view name, summary;
  /// The calls before which the plan is cut, ascending and not 0; none: nothing runs again.
  std::vector<size_t> (*cuts)(const Activations&);
};

/// none, norm, segments.
std::span<const RecomputeEntry> recomputes();

/// What follows from the cuts.
struct Recomputation {
  struct Segment {
    size_t begin, end;  ///< calls
  };
  std::vector<Segment> segments;  ///< at least one; the last is not repeated
  std::vector<bool> again;        ///< per call: its forward runs again
  std::vector<bool> kept;         ///< per value: held from forward on until its maker's segment has been repeated

  bool repeats(size_t call) const { return call < segments.back().begin; }
};

Recomputation recomputation(const Activations& activations, const std::vector<size_t>& cuts);

/// The most that is kept for backward at any one time, bytes of one image: what crosses the cuts up to a segment, and
/// what backward reads in it.
int64_t keptBytes(const Activations& activations, const Recomputation& recomputation);

}  // namespace tandem

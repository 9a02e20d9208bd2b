#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tandem {

struct Activations;  // executor/compile/liveness.h

/// Activation checkpointing. The plan is cut into segments. All but the last keep only the values that cross a cut and
/// are read later. When backward reaches such a segment, its forward runs again. Gradients do not change by a bit.
struct RecomputeEntry {
  std::string_view name, summary;
  /// The calls before which the plan is cut, ascending, without 0; none: nothing is recomputed.
  std::vector<size_t> (*cuts)(const Activations&);
};

/// none, norm, segments.
std::span<const RecomputeEntry> recomputes();

/// The consequences of the cuts.
struct Recomputation {
  struct Segment {
    size_t begin, end;  ///< calls
  };
  std::vector<Segment> segments;  ///< at least one; the last is not repeated
  std::vector<bool> again;        ///< per call: whether its forward runs again
  std::vector<bool> kept;  ///< per value: whether it is held from forward until its maker's segment has been repeated

  bool repeats(size_t call) const { return call < segments.back().begin; }
};

Recomputation recomputation(const Activations& activations, const std::vector<size_t>& cuts);

/// The most bytes kept for backward at any time, for one image: values that cross the cuts up to a segment, and those
/// that backward reads in it.
int64_t keptBytes(const Activations& activations, const Recomputation& recomputation);

}  // namespace tandem

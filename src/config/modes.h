#pragma once

#include <span>
#include <string_view>

namespace tandem {

// The choices that this room defines itself: rows like those of the catalogs of other rooms.

/// A row of --scaling.
struct ScalingEntry {
  std::string_view name, summary;
  bool batchIsGlobal;  ///< --batch counts the images of all replicas
};

/// weak, strong.
std::span<const ScalingEntry> scalings();

/// Whether a row of that name says so; no for a name that is none.
bool batchIsGlobal(std::string_view scaling);

/// A row of --overlap.
struct OverlapEntry {
  std::string_view name, summary;
  bool duringBackward;
};

/// on, off.
std::span<const OverlapEntry> overlaps();

/// A row of --cuda-graph.
struct CudaGraphEntry {
  std::string_view name, summary;
  bool wanted;    ///< captured where it can be
  bool required;  ///< where it cannot be, the run is refused
};

/// auto, on, off.
std::span<const CudaGraphEntry> cudaGraphs();

/// A row of --bad-image.
struct BadImageEntry {
  std::string_view name, summary;
  bool leftOut;
};

/// fail, skip.
std::span<const BadImageEntry> badImages();

}  // namespace tandem

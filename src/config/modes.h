#pragma once

#include <span>
#include <string_view>

namespace tandem {

// Choices that this room defines itself. Their rows are like those of the catalogs in other rooms.

/// A row of --scaling.
struct ScalingEntry {
  std::string_view name, summary;
  bool batchIsGlobal;  ///< --batch is the number of images over all replicas
};

/// weak, strong.
std::span<const ScalingEntry> scalings();

/// batchIsGlobal of the row with that name. False for an unknown name.
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
  bool wanted;    ///< captured if possible
  bool required;  ///< the run is refused if it cannot be captured
};

/// auto, on, off.
std::span<const CudaGraphEntry> cudaGraphs();

/// A row of --verify.
struct VerifyEntry {
  std::string_view name, summary;
  bool wanted;    ///< compared if that is cheap
  bool required;  ///< whatever it costs
};

/// auto, on, off.
std::span<const VerifyEntry> verifications();
/// The row that compares nothing.
const VerifyEntry& withoutVerification();

/// A row of --bad-image.
struct BadImageEntry {
  std::string_view name, summary;
  bool leftOut, blackened;
};

/// fail, skip, zero.
std::span<const BadImageEntry> badImages();

/// A row of --decode.
struct DecodingEntry {
  std::string_view name, summary;
  bool parts;  ///< whether only what is seen of an image is decoded (decodeImagePart())
};

/// exact, fast: the first is the default.
std::span<const DecodingEntry> decodings();

/// A row of --loader.
struct LoaderEntry {
  std::string_view name, summary;
  bool byProcesses;
};

/// threads, processes: the first is the default.
std::span<const LoaderEntry> loaders();

}  // namespace tandem

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

/// A row of --lr-scaling.
struct LrScalingEntry {
  std::string_view name, summary;
  double (*factor)(double ratio);  ///< of the rate, where the global batch is `ratio` times that which it is for
};

/// none, linear, sqrt: the first is the default.
std::span<const LrScalingEntry> lrScalings();

/// A row of --decayed.
struct DecayedEntry {
  std::string_view name, summary;
  bool weightsAlone;  ///< not biases, nor the two parameters of a normalization
};

/// all, weights: the first is the default.
std::span<const DecayedEntry> decayedParameters();

/// A row of --frozen.
struct FrozenEntry {
  std::string_view name, summary;
  bool allButHead;
};

/// none, body: the first is the default.
std::span<const FrozenEntry> frozenParameters();

/// A row of --resume.
struct ResumeEntry {
  std::string_view name, summary;
  bool wanted;    ///< if there is a checkpoint
  bool required;  ///< the training is refused without one
};

/// never, auto, always: the first is the default.
std::span<const ResumeEntry> resumes();

/// A row of --on-nan.
struct NanPolicyEntry {
  std::string_view name, summary;
  bool goesBack;  ///< to the last checkpoint, with a lower rate
};

/// stop, back: the first is the default.
std::span<const NanPolicyEntry> nanPolicies();

}  // namespace tandem

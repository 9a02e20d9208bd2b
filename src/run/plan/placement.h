#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "machine/gpu/gpu_facts.h"

namespace tandem {

/// Ordinals of the GPUs that this build can use here.
std::vector<int> usableGpus(const CudaFacts& cuda);

/// Why a build with CUDA can use no GPU here. Empty if it can, and in a build without CUDA.
std::string whyWithoutGpus(const CudaFacts& cuda);

/// Resolves --devices and --replicas. "auto" is "cuda" if there is a usable GPU and no option on cores is given, else
/// "cpu". "cuda" is the first --replicas usable GPUs, or all of them if --replicas is "auto" too. Placing the result
/// again changes nothing. Throws UsageError if there are fewer GPUs than replicas, and for "cuda" without a GPU.
Config placed(Config config, const CudaFacts& cuda = cudaFacts());

/// Puts options back to their defaults that the strategy has no use for, such as --parameter-device, or the
/// compression, so that a sweep can cross them with all strategies. Returns a note for each that was changed. Throws
/// UsageError for an unknown strategy or compression.
std::vector<std::string> passOver(Config& config);

}  // namespace tandem

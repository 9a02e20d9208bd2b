#pragma once

#include <map>
#include <span>
#include <string>

#include "device/precision.h"
#include "machine/gpu/gpu_facts.h"

namespace tandem {

/// Why --devices=cuda:`index` cannot be used, in one line with the remedy; empty: it can.
std::string gpuRefusal(const CudaFacts& facts, int index);

/// The first 16-bit precision of the catalog that all of `gpus` support; null: there is none.
const Precision* halfPrecision(std::span<const GpuFacts> gpus);

/// Versions of the CUDA libraries in use and their compute capabilities. Empty in a build without CUDA.
std::map<std::string, std::string> gpuLibraries();

/// Nominal peaks of one GPU, per second, at its highest clocks; 0: unknown.
struct StatedPeaks {
  double flops = 0;  ///< of dense convolutions and matrix products in the precision
  double bytes = 0;  ///< of its memory
};

/// FLOPs per multiprocessor and cycle come from NVIDIA's architecture white papers: A100, H100, Blackwell; GA102 and
/// AD102 for fp32 only. Boards of those two chips differ in their tensor cores' rates. Memory bytes count two transfers
/// per clock.
StatedPeaks statedPeaks(const GpuFacts& gpu, const Precision& precision);

}  // namespace tandem

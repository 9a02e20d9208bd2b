#pragma once

#include <map>
#include <span>
#include <string>

#include "device/precision.h"
#include "machine/gpu/gpu_facts.h"

namespace tandem {

/// Why --devices=cuda:`index` cannot be, in one line that says what to do; empty: it can.
std::string gpuRefusal(const CudaFacts& facts, int index);

/// The first 16-bit precision of the catalog that all of `gpus` compute in; null: there is none.
const Precision* halfPrecision(std::span<const GpuFacts> gpus);

/// Versions of the CUDA libraries in use, and the compute capabilities that they serve. Empty in a build without CUDA.
std::map<std::string, std::string> gpuLibraries();

/// Per second, of one GPU at its highest clocks; 0: not known.
struct StatedPeaks {
  double flops = 0;  ///< of convolutions and products of matrices in the precision, dense
  double bytes = 0;  ///< of its memory
};

/// FLOPs of a multiprocessor in a cycle by NVIDIA's architecture white papers (A100, H100, Blackwell; GA102 and AD102
/// for fp32 alone, because boards of those chips differ in what their tensor cores do), bytes by twice the memory's
/// clock.
StatedPeaks statedPeaks(const GpuFacts& gpu, const Precision& precision);

}  // namespace tandem

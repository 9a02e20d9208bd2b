#pragma once

#include <span>
#include <string>

#include "device/gpu_facts.h"
#include "device/precision.h"

namespace tandem {

/// Why --devices=cuda:`index` cannot be, in one line that says what to do; empty: it can.
std::string gpuRefusal(const CudaFacts& facts, int index);

/// The first 16-bit precision of the catalog that all of `gpus` compute in; null: there is none.
const Precision* halfPrecision(std::span<const GpuFacts> gpus);

}  // namespace tandem

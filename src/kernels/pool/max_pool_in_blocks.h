#pragma once

#include "kernels/pool/gpu_max_pool.h"
#include "kernels/pool/max_pool.h"

namespace tandem {

/// Enqueues a program on the device of x, or runs it.
using RunMaxPool = void (*)(const MaxPoolProgram& program, const at::Tensor& x);

/// The places that a byte can number.
inline constexpr int64_t mostPoolPlaces = 256;

/// Whether the programs can number all packets (PacketGrid::most) of x and of y. REQUIRES: x as below.
bool canNumberPackets(const at::Tensor& x, const PoolWindow& window);

/// maxPool() and maxPoolBackward() by the programs of gpu_max_pool.h. Throws InternalError if a window has no input.
/// REQUIRES: x in NHWC, float, bfloat16 or half, not empty; at most mostPoolPlaces places in a window;
/// canNumberPackets().
at::Tensor maxPoolInBlocks(RunMaxPool run, const at::Tensor& x, const PoolWindow& window, MaxPoolSaved* saved);
at::Tensor maxPoolBackwardInBlocks(RunMaxPool run, const at::Tensor& gradient, const PoolWindow& window,
                                   const MaxPoolSaved& saved);

}  // namespace tandem

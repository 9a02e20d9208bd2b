#pragma once

#include <variant>

#include "kernels/norm/gpu_backward.h"
#include "kernels/norm/gpu_channels.h"

/// The block programs of normAct() on a GPU, for tensors in NHWC.
/// - Forward in training: NormStatistics reads x for the statistics of each chunk of rows, NormFinish joins the chunks,
///   NormApply reads x and writes y, with a residual also the ReLU's mask.
/// - Backward: NormSums reads x, the gradients and that mask for two sums, NormSumsFinish joins them. NormGradient
/// reads
///   x and a gradient again and writes dx.
/// - NormEvaluate replaces the first two in evaluation, NormFromSums if a convolution accumulated the statistics.
namespace tandem {

using NormProgram = std::variant<NormStatistics, NormFinish, NormFromSums, NormEvaluate, NormApply, NormSums,
                                 NormSumsFinish, NormGradient>;

namespace gpu {
/// Enqueues a program.
void normAct(const NormProgram& program, void* stream);
}  // namespace gpu

}  // namespace tandem

#pragma once

#include <variant>

#include "kernels/norm/gpu_backward.h"
#include "kernels/norm/gpu_channels.h"

/// The block programs of normAct() on a GPU, for tensors in NHWC. Forward in training reads x for the statistics of
/// each chunk of rows (NormStatistics), joins the chunks (NormFinish), then reads x and writes y (NormApply); backward
/// reads x and the gradients for two sums (NormSums), joins them (NormSumsFinish), then reads again and writes dx
/// (NormGradient). NormEvaluate stands in evaluation for the first two, NormFromSums where a convolution took the sums.
namespace tandem {

using NormProgram = std::variant<NormStatistics, NormFinish, NormFromSums, NormEvaluate, NormApply, NormSums,
                                 NormSumsFinish, NormGradient>;

namespace gpu {
/// Enqueues a program.
void normAct(const NormProgram& program, void* stream);
}  // namespace gpu

}  // namespace tandem

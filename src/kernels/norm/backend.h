#pragma once

#include <memory>

#include "kernels/norm/gpu_norm_act.h"
#include "kernels/norm/norm_act.h"
#include "kernels/norm/norm_act_kernel.h"

namespace tandem {

/// The memory passes of normAct() and its backward, which differ between kinds of devices. Tensors are in NHWC and
/// checked. The arguments are complete but for `columns` and the per-column values. `x` is [N, C, H, W], on the CPU
/// possibly blocked. Any thread may call.
class NormActPasses {
 public:
  virtual ~NormActPasses() = default;

  /// Computes mean, inverse deviation, factor and offset from saved.parameters into `saved`. In training they are the
  /// batch's, and the running statistics are updated; in evaluation they come from the running statistics.
  virtual void statistics(const at::Tensor& x, const NormActOptions& options, NormActSaved& saved) const = 0;

  /// The same in training, from given channel statistics instead of x.
  virtual void statistics(const at::Tensor& x, const ChannelStats& sums, const NormActOptions& options,
                          NormActSaved& saved) const = 0;

  /// May leave a mask of the ReLU in `saved`, which backward then reads instead of the output.
  virtual void normalise(const at::Tensor& x, NormActArguments arguments, NormActSaved& saved) const = 0;

  /// Whether gradients() takes one number for each channel of an image.
  virtual bool addsGradientsOfImages() const { return false; }

  /// Gives the gradients of scale and shift in `result`, where it may find memory for them. Writes the others to the
  /// addresses in `arguments`. `ofImages`: [N * C] fp32, a further gradient of each pixel of an image; undefined: none.
  virtual void gradients(const at::Tensor& x, const at::Tensor& ofImages, const NormActSaved& saved,
                         const NormActOptions& options, NormActGradientArguments arguments,
                         NormActGradients& result) const = 0;
};

/// Sets the fp32 per-column values that forward and backward share. They must outlive the use of `arguments`.
template <class Arguments>
void setColumns(Arguments& arguments, int64_t columns, const at::Tensor& factor, const at::Tensor& offset) {
  arguments.columns = columns;
  arguments.factor = factor.const_data_ptr<float>();
  arguments.offset = offset.const_data_ptr<float>();
}

/// Uses the kernels of norm_act_kernel.h.
const NormActPasses& normActOnCpu();

/// Uses the programs of gpu_norm_act.h, one after the other. run(program, x) enqueues a program on the device of x.
std::unique_ptr<const NormActPasses> normActInBlocks(void (*run)(const NormProgram&, const at::Tensor&));

/// normAct(), normActAgain() and normActBackward() with these passes. REQUIRES: x in NHWC, float, bfloat16 or half.
at::Tensor normActBy(const NormActPasses& passes, const at::Tensor& x, const at::Tensor& residual,
                     const NormActOptions& options, NormActSaved& saved);
at::Tensor normActAgainBy(const NormActPasses& passes, const at::Tensor& x, const at::Tensor& residual,
                          const NormActOptions& options, NormActSaved& saved);
NormActGradients normActBackwardBy(const NormActPasses& passes, std::vector<at::Tensor> outputGradients,
                                   const NormActSaved& saved, bool hasResidual, const NormActOptions& options);

}  // namespace tandem

#pragma once

#include <memory>

#include "kernels/norm/gpu_norm_act.h"
#include "kernels/norm/norm_act.h"
#include "kernels/norm/norm_act_kernel.h"

namespace tandem {

/// The passes of normAct() and its backward over memory: what differs from one kind of device to another. Tensors are
/// in NHWC, checked and chosen; arguments come with everything but `columns` and the values per column. `x` is [N, C,
/// H, W], on the CPU perhaps blocked. Any thread may call.
class NormActPasses {
 public:
  virtual ~NormActPasses() = default;

  /// From saved.parameters into `saved`: mean, inverse deviation, factor and offset, of the batch in training, which
  /// updates the running statistics, else of those.
  virtual void statistics(const at::Tensor& x, const NormActOptions& options, NormActSaved& saved) const = 0;

  /// The same in training from the sums of x's channels, without reading x.
  virtual void statistics(const at::Tensor& x, const ChannelStats& sums, const NormActOptions& options,
                          NormActSaved& saved) const = 0;

  virtual void normalise(const at::Tensor& x, const NormActSaved& saved, NormActArguments arguments) const = 0;

  /// Gradients of scale and shift into `result`, and what `arguments` asks for into its memory.
  virtual void gradients(const at::Tensor& x, const NormActSaved& saved, bool training,
                         NormActGradientArguments arguments, NormActGradients& result) const = 0;
};

/// What passes add to forward's arguments and to backward's: fp32 per column, alive as long as they are used.
template <class Arguments>
void setColumns(Arguments& arguments, int64_t columns, const at::Tensor& factor, const at::Tensor& offset) {
  arguments.columns = columns;
  arguments.factor = factor.const_data_ptr<float>();
  arguments.offset = offset.const_data_ptr<float>();
}

/// By the bodies of norm_act_bodies.h.
const NormActPasses& normActOnCpu();

/// By the programs of norm_act_programs.h, one after the other. run(program, x) enqueues a program where x lies.
std::unique_ptr<const NormActPasses> normActInBlocks(void (*run)(const NormProgram&, const at::Tensor&));

/// normAct(), normActAgain() and normActBackward() by these passes. REQUIRES: x in NHWC, float, bfloat16 or half.
at::Tensor normActBy(const NormActPasses& passes, const at::Tensor& x, const at::Tensor& residual,
                     const NormActOptions& options, NormActSaved& saved);
at::Tensor normActAgainBy(const NormActPasses& passes, const at::Tensor& x, const at::Tensor& residual,
                          const NormActOptions& options, NormActSaved& saved);
NormActGradients normActBackwardBy(const NormActPasses& passes, std::vector<at::Tensor> outputGradients,
                                   const NormActSaved& saved, bool hasResidual, const NormActOptions& options);

}  // namespace tandem

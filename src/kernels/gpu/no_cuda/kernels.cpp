#include "base/error.h"
#include "kernels/loss/softmax_cross_entropy_kernel.h"
#include "kernels/norm/gpu_norm_act.h"
#include "kernels/optimizer/adam_kernel.h"
#include "kernels/optimizer/rmsprop_kernel.h"
#include "kernels/optimizer/sgd_kernel.h"
#include "kernels/pool/gpu_max_pool.h"
#include "kernels/tensor/non_finite_kernel.h"
#include "kernels/tensor/normalize_kernel.h"
#include "kernels/tensor/sum_kernel.h"

namespace tandem::gpu {
namespace {

[[noreturn]] void refuse(const char* kernel) {
  throw InternalError(std::string(kernel) + ": a tensor on a GPU, but this build has no CUDA");
}

}  // namespace

void adamUpdate(const AdamArguments&, int64_t, void*) { refuse("adamUpdate"); }
void lambDirection(const AdamArguments&, float*, int64_t, void*) { refuse("lambDirection"); }
void markNonFinite(const NonFiniteArguments&, int64_t, float*, void*) { refuse("markNonFinite"); }
void maxPool(const MaxPoolProgram&, void*) { refuse("maxPool"); }
void prepare(AdamCoefficients*, const AdamHyperparameters&, void*) { refuse("prepare"); }
void prepare(RmspropCoefficients*, const RmspropHyperparameters&, void*) { refuse("prepare"); }
void prepare(SgdCoefficients*, const SgdHyperparameters&, void*) { refuse("prepare"); }
void normAct(const NormProgram&, void*) { refuse("normAct"); }
void normalize(const NormalizeArguments&, void*) { refuse("normalize"); }
void rmspropUpdate(const RmspropArguments&, int64_t, void*) { refuse("rmspropUpdate"); }
void sgdUpdate(const SgdArguments&, int64_t, void*) { refuse("sgdUpdate"); }
void softmaxCrossEntropy(const SoftmaxCrossEntropyArguments&, float*, void*) { refuse("softmaxCrossEntropy"); }
void sumInto(const SumArguments&, int64_t, void*) { refuse("sumInto"); }

}  // namespace tandem::gpu

#include "base/error.h"
#include "kernels/adam_bodies.h"
#include "kernels/non_finite_bodies.h"
#include "kernels/norm_act_programs.h"
#include "kernels/normalize_bodies.h"
#include "kernels/sgd_bodies.h"
#include "kernels/softmax_cross_entropy_bodies.h"
#include "kernels/sum_bodies.h"

namespace tandem::gpu {
namespace {

[[noreturn]] void refuse(const char* kernel) {
  throw InternalError(std::string(kernel) + ": a tensor on a GPU, but this build has no CUDA");
}

}  // namespace

void adamUpdate(const AdamArguments&, int64_t, void*) { refuse("adamUpdate"); }
void markNonFinite(const NonFiniteArguments&, int64_t, float*, void*) { refuse("markNonFinite"); }
void prepare(AdamCoefficients*, const AdamStep&, void*) { refuse("prepare"); }
void prepare(SgdCoefficients*, const SgdStep&, void*) { refuse("prepare"); }
void normAct(const NormProgram&, void*) { refuse("normAct"); }
void normalize(const NormalizeArguments&, void*) { refuse("normalize"); }
void sgdUpdate(const SgdArguments&, int64_t, void*) { refuse("sgdUpdate"); }
void softmaxCrossEntropy(const SoftmaxCrossEntropyArguments&, float*, void*) { refuse("softmaxCrossEntropy"); }
void sumInto(const SumArguments&, int64_t, void*) { refuse("sumInto"); }

}  // namespace tandem::gpu

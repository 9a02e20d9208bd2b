// Batch-norm [+ residual] + an activation in training, forward and backward: the kernel, and the ATen operations that
// autograd would run (its oracle). Minimum traffic, in tensors of the size of x:
//
//   forward            statistics read x; then x is read, y written                             3
//     with residual    ... and the residual read                                                4
//   backward           sums read dy and x; then dy and x are read, dx written                   5
//     with residual    sums read dy, x and y and write the residual's gradient; then that and
//                      x are read, dx written                                                   7
//
// (Without residual the ReLU's mask is recomputed from x, with one it is read from y.)
#include "kernels/norm/norm_act.h"

#include <ATen/ATen.h>

#include <memory>

#include "rows.h"

namespace tandem::bench {
namespace {

enum class By { kernel, aten };
const char* nameOf(By by) { return by == By::kernel ? "kernel" : "aten"; }

/// The tensors of one operation.
struct NormAct {
  NormAct(const Activation& shape, at::ScalarType type, bool hasResidual, tandem::Activation activation)
      : x(randomImages(shape, type)),
        outputGradient(randomImages(shape, type)),
        parameters{at::rand({shape.channels}) + 0.5, at::randn({shape.channels}), at::zeros({shape.channels}),
                   at::ones({shape.channels})} {
    options.activation = activation;
    if (hasResidual) residual = randomImages(shape, type);
  }

  at::Tensor forward(By by) {
    return (by == By::kernel ? normAct : normActReference)(x, residual, parameters, options, saved);
  }
  NormActGradients backward(By by) const {
    // The gradient is held here too, so it is not overwritten and stays what it is.
    return (by == By::kernel ? normActBackward : normActBackwardReference)({outputGradient}, saved, residual.defined(),
                                                                           options);
  }

  at::Tensor x, residual, outputGradient;
  NormParameters parameters;
  NormActOptions options;
  NormActSaved saved;
};

Call forwardCall(const std::shared_ptr<NormAct>& operation, By by) {
  return [=] { operation->forward(by); };
}

Call backwardCall(const std::shared_ptr<NormAct>& operation, By by) {
  operation->forward(by);
  return [=] { operation->backward(by); };
}

void addRows(const Activation& shape, bool hasResidual, tandem::Activation activation, const Peaks& peaks) {
  const std::string what = concat(operationOf(activation), hasResidual ? "_residual" : "");
  for (const at::ScalarType type : elementTypes) {
    const auto make = [=] { return std::make_shared<NormAct>(shape, type, hasResidual, activation); };
    const double tensor = static_cast<double>(shape.count() * bytesOf(type));
    const auto name = [&](const char* direction, By by) {
      return concat("norm_", what, "_", direction, "/", shape.name(), "/", bench::nameOf(type), "/", nameOf(by));
    };
    for (const By by : {By::kernel, By::aten}) {
      addByteRow(name("forward", by), peaks, (hasResidual ? 4 : 3) * tensor, [=] { return forwardCall(make(), by); });
    }
    for (const By by : {By::kernel, By::aten}) {
      addByteRow(name("backward", by), peaks, (hasResidual ? 7 : 5) * tensor, [=] { return backwardCall(make(), by); });
    }
  }
}

}  // namespace

void addNormActRows(const Peaks& peaks) {
  for (const Activation& shape : plainActivations) addRows(shape, false, tandem::Activation::relu, peaks);
  for (const Activation& shape : residualActivations) addRows(shape, true, tandem::Activation::relu, peaks);
  addRows({"efficientnet_b0", 16, 144, 56, 56}, false, tandem::Activation::silu, peaks);
  addRows({"mobilenet_v2", 16, 144, 56, 56}, false, tandem::Activation::relu6, peaks);
}

}  // namespace tandem::bench

#pragma once

#include "kernels/simd/element.h"

namespace tandem {

/// The tensors of every optimizer kernel.
struct UpdateTensors {
  float* master;
  void* weights;  ///< null: the same memory as master
  const void* gradient;
  Element weightType, gradientType;
};

/// Calls body(weights, gradient) with typed pointers; `weights` is a null void* if the weights are the master.
template <class Body>
TANDEM_INLINE void withTypes(const UpdateTensors& t, const Body& body) {
  const auto withWeights = [&](auto* gradient) TANDEM_INLINE_LAMBDA {
    if (!t.weights) return body(static_cast<void*>(nullptr), gradient);
    withElement(t.weightType,
                [&](auto kind) TANDEM_INLINE_LAMBDA { body(static_cast<decltype(kind)*>(t.weights), gradient); });
  };
  withElement(t.gradientType,
              [&](auto kind) TANDEM_INLINE_LAMBDA { withWeights(static_cast<const decltype(kind)*>(t.gradient)); });
}

}  // namespace tandem

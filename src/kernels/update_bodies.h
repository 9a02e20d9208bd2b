#pragma once

#include "kernels/bf16.h"

namespace tandem {

/// What every optimizer kernel updates and reads.
struct UpdateTensors {
  float* master;
  void* weights;  ///< null: the same memory as master
  const void* gradient;
  Element weightType, gradientType;
};

/// Calls body(weights, gradient) with pointers of their types; `weights` is a null void* where they are the master.
template <class Body>
TANDEM_INLINE void withTypes(const UpdateTensors& t, const Body& body) {
  const auto withWeights = [&](auto* gradient) TANDEM_INLINE_LAMBDA {
    if (!t.weights) return body(static_cast<void*>(nullptr), gradient);
    if (t.weightType == Element::fp32) return body(static_cast<float*>(t.weights), gradient);
    body(static_cast<Bf16*>(t.weights), gradient);
  };
  if (t.gradientType == Element::fp32) return withWeights(static_cast<const float*>(t.gradient));
  withWeights(static_cast<const Bf16*>(t.gradient));
}

}  // namespace tandem

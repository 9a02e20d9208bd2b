#pragma once

#include <array>
#include <string_view>

namespace tandem {

/// What may follow a batch-norm in the same operation.
enum class Activation { none, relu, relu6, silu, hardSwish };

/// A row for each, by the operation of the graph's catalog (graph/operation.h).
struct ActivationRow {
  std::string_view operation;
  Activation activation;
};
inline constexpr std::array activationRows{
    ActivationRow{"relu", Activation::relu},
    ActivationRow{"relu6", Activation::relu6},
    ActivationRow{"silu", Activation::silu},
    ActivationRow{"hard_swish", Activation::hardSwish},
};

/// Activation::none for any other operation.
constexpr Activation activationOf(std::string_view operation) {
  for (const ActivationRow& row : activationRows) {
    if (row.operation == operation) return row.activation;
  }
  return Activation::none;
}

/// REQUIRES: not Activation::none.
constexpr std::string_view operationOf(Activation activation) {
  for (const ActivationRow& row : activationRows) {
    if (row.activation == activation) return row.operation;
  }
  return "";
}

}  // namespace tandem

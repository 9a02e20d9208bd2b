#include "run/output_activation.h"

#include <ATen/ATen.h>

namespace tandem {

std::span<const ScoreEntry> scores() {
  static constexpr ScoreEntry table[] = {
      {"softmax", "probabilities of classes of which one is true",
       [](const at::Tensor& outputs) { return at::softmax(outputs, 1); }},
      {"sigmoid", "probabilities of classes that are true or false each by itself",
       [](const at::Tensor& outputs) { return at::sigmoid(outputs); }},
      {"logits", "the outputs themselves", [](const at::Tensor& outputs) { return outputs; }},
  };
  return table;
}

}  // namespace tandem

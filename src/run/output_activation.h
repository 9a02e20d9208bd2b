#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string_view>

namespace tandem {

/// A row of --scores: how `predict` shows the outputs of a network, [N, classes] fp32.
struct ScoreEntry {
  std::string_view name, summary;
  at::Tensor (*of)(const at::Tensor& outputs);
};

std::span<const ScoreEntry> scores();

}  // namespace tandem

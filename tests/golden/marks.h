#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/text.h"
#include "golden/formula_tensor.h"

namespace tandem::golden {

/// What stands for a tensor in a golden file: its norm, and its product with random numbers of variance 1. That is
/// about as large, but it sees signs and order, too. marks.py is the same in Python.
struct Mark {
  double norm = 0, product = 0;
};

using Marks = std::map<std::string, Mark>;

// NOLINTNEXTLINE(readability-identifier-naming): nlohmann_json looks for this name
inline void from_json(const nlohmann::json& pair, Mark& mark) { mark = {pair.at(0), pair.at(1)}; }

/// REQUIRES: the tensor has the shape of the parameter `name`.
inline Mark markOf(const std::string& name, const at::Tensor& tensor) {
  const at::Tensor values = tensor.to(at::kCPU, at::kDouble);
  const at::Tensor random = formulaTensor(concat("input.", name), values.sizes().vec());
  return {values.norm().item<double>(), (values * random).sum().item<double>()};
}

/// How far marks are from the exact ones, over the norms of those: root mean square, and the worst.
struct Distances {
  double typical = 0, worst = 0;
  std::string worstName = {};
};

// NOLINTNEXTLINE(readability-identifier-naming): nlohmann_json looks for this name
inline void from_json(const nlohmann::json& object, Distances& distances) {
  distances = {object.at("typical"), object.at("worst")};
}

/// REQUIRES: `found` has every name of `exact`.
inline Distances distances(const Marks& exact, const Marks& found) {
  double largest = 0, squares = 0;
  for (const auto& [name, mark] : exact) largest = std::max(largest, mark.norm);
  Distances all;
  for (const auto& [name, mark] : exact) {
    const Mark& other = found.at(name);
    const double off = std::hypot(other.norm - mark.norm, other.product - mark.product);
    const double distance = off / std::max(mark.norm, 1e-3 * largest);
    squares += distance * distance;
    if (distance >= all.worst) all.worst = distance, all.worstName = name;
  }
  all.typical = std::sqrt(squares / static_cast<double>(exact.size()));
  return all;
}

}  // namespace tandem::golden

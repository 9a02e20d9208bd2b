#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

/// Tensors whose values follow from their name alone, so that two programs agree on them without a file. formula.py is
/// the same in Python: v in [-1, 1) is drawn per element from splitmix64(fnv1a64(name) + index).
namespace tandem::golden {

inline uint64_t nameHash(std::string_view name) {
  uint64_t value = 0xCBF29CE484222325;
  for (const char byte : name) value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
  return value;
}

/// In [0, 1), a multiple of 2^-24.
inline double uniform(uint64_t seed) {
  uint64_t x = seed + 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  x ^= x >> 31;
  return static_cast<double>(x >> 40) * 0x1p-24;
}

/// Of a batch-norm: those that close a residual branch get less, as trained networks have it.
inline double normalizationGain(std::string_view name) {
  const std::string_view path = name.substr(0, name.rfind('.'));
  constexpr std::array<std::string_view, 4> closing{".bn2", ".bn3", ".conv.3", ".f.c.1"};
  return std::ranges::any_of(closing, [path](std::string_view end) { return path.ends_with(end); }) ? 0.25 : 1;
}

/// What a tensor's values follow from; `isBatchNorm`: it is a batch-norm's scale or shift.
struct Subject {
  std::string_view name;
  const std::vector<int64_t>& shape;
  bool isBatchNorm = false;
};

/// Calls use(rule) with the rule by which the value of element `index` follows from u in [0, 1): rule(u, index). Each
/// rule is a type of its own, so that the compiler can unroll the loop over a tensor. Batch-norm shifts lie three
/// deviations off zero, so that few values come near the kink of the ReLU behind; above it all in front of a depthwise
/// convolution (.conv.0.1), which a channel of zeros would leave without variance.
template <class Use>
void withRule(const Subject& subject, const Use& use) {
  const auto& [name, shape, isBatchNorm] = subject;
  const double gain = normalizationGain(name);
  if (name.starts_with("input")) return use([](double u, size_t) { return std::sqrt(3.0) * (2 * u - 1); });
  if (name.ends_with(".running_var")) return use([](double u, size_t) { return 1 + 0.5 * u; });
  if (name.ends_with(".running_mean")) return use([](double u, size_t) { return 0.1 * (2 * u - 1); });
  if (isBatchNorm && name.ends_with(".weight")) {
    return use([gain](double u, size_t) { return gain * (1 + 0.2 * (2 * u - 1)); });
  }
  if (isBatchNorm) {
    const bool mixed = !name.ends_with(".conv.0.1.bias");
    return use([=](double u, size_t i) { return gain * ((mixed && i % 4 == 3 ? -3 : 3) + 0.1 * (2 * u - 1)); });
  }
  if (name.ends_with("bias")) return use([](double u, size_t) { return 0.1 * (2 * u - 1); });
  if (shape.size() == 1) return use([](double u, size_t) { return 1 + 0.2 * (2 * u - 1); });
  const int64_t fanIn = std::accumulate(shape.begin() + 1, shape.end(), int64_t{1}, std::multiplies<>());
  const double scale = std::sqrt(3.0) * std::sqrt(2.0 / static_cast<double>(fanIn));
  return use([scale](double u, size_t) { return scale * (2 * u - 1); });
}

/// The values of the tensor, in NCHW or OIHW order, from index `first` on.
inline void fill(const Subject& subject, size_t first, std::span<float> values) {
  const uint64_t hash = nameHash(subject.name);
  withRule(subject, [&](const auto& rule) {
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(rule(uniform(hash + first + i), first + i));
    }
  });
}

/// The objects of an image: class, left, top, right, bottom; eight of them, the last ones zeros.
inline std::vector<float> boxes(int64_t row, int64_t classes) {
  std::vector<float> values;
  for (int64_t m = 0; m < 3 + row; ++m) {
    const double width = 0.1 + 0.07 * static_cast<double>((row + 2 * m) % 6);
    const double height = 0.15 + 0.06 * static_cast<double>((2 * row + m) % 7);
    const double left = (1 - width) * static_cast<double>((row + m) % 4) / 4;
    const double top = (1 - height) * static_cast<double>((3 * m + row) % 5) / 5;
    for (const double value :
         {static_cast<double>(1 + (5 * row + 3 * m) % (classes - 1)), left, top, left + width, top + height}) {
      values.push_back(static_cast<float>(value));
    }
  }
  values.resize(8 * 5);
  return values;
}

inline int64_t label(int64_t row, int64_t classes) { return (7 * row + 3) % classes; }

}  // namespace tandem::golden

#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numbers>

namespace tandem {

/// splitmix64's output function: a bijection whose outputs for consecutive inputs look independent.
/// Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators (OOPSLA 2014).
inline uint64_t mixBits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

constexpr uint64_t goldenGamma = 0x9E3779B97F4A7C15ULL;

/// The use of a key: streams of one seed that must not repeat each other.
enum class RandomUse : uint64_t { order = 1, augment, pixels, label, making, mixing, image };

/// One key made of all parts, in this order.
inline uint64_t randomKey(RandomUse use, uint64_t seed, uint64_t a, uint64_t b = 0) {
  uint64_t key = mixBits(static_cast<uint64_t>(use) * goldenGamma);
  for (const uint64_t part : {seed, a, b}) key = mixBits(key + goldenGamma + mixBits(part + goldenGamma));
  return key;
}

/// A stream of random numbers that depends on its key only.
class CounterRandom {
 public:
  explicit CounterRandom(uint64_t key) : state_(key) {}
  uint64_t next() { return mixBits(state_ += goldenGamma); }
  /// Uniform in [0, bound), with a bias below bound / 2^64. REQUIRES: bound > 0.
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }
  /// Uniform in [0, 1), a multiple of 2^-53.
  double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double least, double most) { return least + (most - least) * fraction(); }
  /// Of the normal distribution with mean 0 and deviation 1. Box, Muller: A note on the generation of random normal
  /// deviates (Ann. Math. Statist. 29, 1958).
  double normal() {
    const double radius = std::sqrt(-2 * std::log1p(-fraction()));
    return radius * std::cos(2 * std::numbers::pi * fraction());
  }

 private:
  uint64_t state_;
};

}  // namespace tandem

#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace tandem {

/// What the machine does to runs one after the other: slow drift in which a run resembles the one before by 0.7, what
/// is its own, and one run in fifty disturbed by 8 %.
struct Noise {
  double drift, own;
};

/// Rates of runs one after the other.
class SimulatedMachine {
 public:
  SimulatedMachine(uint64_t seed, Noise noise) : random_(seed), noise_(noise), drift_(normal_(random_)) {}

  double rate(double speed) {
    drift_ = 0.7 * drift_ + std::sqrt(1 - 0.49) * normal_(random_);
    const double disturbed = std::uniform_real_distribution<double>()(random_) < 0.02 ? 0.92 : 1;
    return 1000 * speed * disturbed * std::exp(noise_.drift * drift_ + noise_.own * normal_(random_));
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  Noise noise_;
  double drift_;
};

}  // namespace tandem

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem {

/// How far weights are from others of the same steps: |w - reference| / |reference - start|, in Euclidean norms.
struct ChangeError {
  double whole = 0;        ///< over all parameters
  double worst = 0;        ///< of the parameter where it is largest, among those that the reference moves
  std::string where = {};  ///< its name

  bool operator==(const ChangeError&) const = default;
};

/// The error of plain ATen on the same steps: the autograd executor on one replica.
struct PlainError {
  std::string precision = {};
  ChangeError error = {};

  bool operator==(const PlainError&) const = default;
};

/// What the first steps of a run, made once more, have in common with one replica in fp64 (run/verify/verification.h).
struct EqualityStamp {
  std::string reason = {};             ///< why the steps were not compared; empty: they were
  int64_t steps = 0;                   ///< number of compared steps
  ChangeError error = {};              ///< of the replica that is furthest from fp64
  std::vector<PlainError> plain = {};  ///< in fp32, then in the run's precision if that is another
  double differenceOfReplicas = -1;    ///< change error from one replica with the same kernels; -1: not compared
  bool bitEqual = false;               ///< all replicas have that one's weights, bit for bit
  double seconds = 0;                  ///< that the comparison took
  double expectedSeconds = 0;          ///< that it was expected to take; decides --verify=auto

  bool compared() const { return reason.empty(); }
  bool operator==(const EqualityStamp&) const = default;
};

}  // namespace tandem

#pragma once

#include <array>
#include <vector>

#include "executor/select/conv_timing.h"

namespace tandem {

/// The error of each pass of a convolution: |result - exact| / |exact| in Euclidean norms. 0: the candidate does not
/// compute the pass.
using PassErrors = std::array<double, convolutionPasses>;

/// The errors of candidates for one image and weights of normal random numbers, one per candidate. All have the same
/// numbers, rounded to `type`. The exact result is ATen's in fp64 of these. The error of the parameters' gradient is
/// that of the weight's. REQUIRES: each candidate supports the layer; runs on the thread of a CPU device.
std::vector<PassErrors> convolutionErrors(const TrialLayer& layer, const std::vector<ConvCandidate>& candidates,
                                          at::ScalarType type);

using PassMarks = std::array<bool, convolutionPasses>;

/// By candidate and pass: whether its error is at most `accuracy` times that of the first candidate of its layout.
std::vector<PassMarks> accurateEnough(const std::vector<PassErrors>& errors,
                                      const std::vector<ConvCandidate>& candidates, double accuracy);

}  // namespace tandem

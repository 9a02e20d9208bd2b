#pragma once

#include <ATen/ATen.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kernels/convolution_engines.h"

namespace tandem {

/// What stand-in engines did.
struct EngineLog {
  int made = 0;                   ///< problems
  std::vector<std::string> runs;  ///< names of engines
  bool workspaceFits = true;      ///< each was given workspace if it needs some, and only then
  std::string wrong = {};         ///< name of one whose results are twice what they should be
};

/// The problem's pass over memory of the host, by ATen: what it wrote. Tensors as of cudnnConvolution().
inline at::Tensor computePass(const ConvolutionProblem& p, std::span<void* const> memory) {
  constexpr std::array types{at::kFloat, at::kBFloat16, at::kHalf};
  const auto view = [&](size_t i, std::array<int64_t, 4> d) {
    return at::from_blob(memory[i], d, {d[1] * d[2] * d[3], 1, d[1] * d[3], d[1]},
                         at::TensorOptions(types.at(static_cast<size_t>(p.type))));
  };
  const ConvolutionGeometry& g = p.geometry;
  const at::Tensor x = view(0, {p.images, p.channels, p.height, p.width});
  const at::Tensor weight = view(1, {p.outputs, p.channels / g.groups, p.kernelH, p.kernelW});
  const at::Tensor y = view(2, {p.images, p.outputs, p.outputHeight(), p.outputWidth()});
  const std::array<int64_t, 2> strides{g.strideH, g.strideW}, padding{g.top, g.left};
  if (p.pass == ConvolutionPass::forward) {
    return y.copy_(at::conv2d(x, weight, {}, strides, padding, {1, 1}, g.groups));
  }
  const bool ofInput = p.pass == ConvolutionPass::inputGradient;
  const auto gradients = at::convolution_backward(y, x, weight, std::nullopt, strides, padding, {1, 1}, false, {0, 0},
                                                  g.groups, {ofInput, !ofInput, false});
  return (ofInput ? x : weight).copy_(ofInput ? std::get<0>(gradients) : std::get<1>(gradients));
}

/// "plain"; "roomy", which needs workspace; "refusing", which does not serve.
class StandInEngines final : public Engines {
 public:
  StandInEngines(const ConvolutionProblem& problem, EngineLog& log) : problem_(problem), log_(log) { ++log.made; }

  std::span<const std::string> names() const override { return names_; }
  std::optional<int64_t> prepare(size_t engine) override {
    if (engine == 2) return std::nullopt;
    return engine == 1 ? 4096 : 0;
  }
  void run(size_t engine, std::span<void* const> tensors, void* workspace) override {
    log_.runs.push_back(names_.at(engine));
    log_.workspaceFits = log_.workspaceFits && (engine == 1) == (workspace != nullptr);
    const at::Tensor result = computePass(problem_, tensors);
    if (names_.at(engine) == log_.wrong) result.mul_(2);
  }

 private:
  ConvolutionProblem problem_;
  EngineLog& log_;
  std::vector<std::string> names_{"plain", "roomy", "refusing"};
};

}  // namespace tandem

#pragma once

#include <ATen/ATen.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cudnn/conv_problem.h"
#include "kernels/cudnn/norm_problem.h"

namespace tandem {

/// What stand-in engines did.
struct EngineLog {
  int made = 0;                   ///< problems
  std::vector<std::string> runs;  ///< names of engines
  std::string problem = {};       ///< of the last run
  bool workspaceFits = true;      ///< each was given workspace if it needs some, and only then
  std::string wrong = {};         ///< name of one whose results are twice what they should be
  int sums = 0;                   ///< runs that took sums
  double sumsShift = 0;           ///< which then are those of y + sumsShift
};

/// The problem's pass over memory of the host, by ATen: what it wrote. Tensors as of cudnnConvPlans().
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

/// The sums of y's channels, into memory as of cudnnConvPlans().
inline void computeSums(const at::Tensor& y, double shift, std::span<void* const> memory) {
  const at::Tensor wide = y.to(at::kDouble) + shift;
  const auto channels = [&](size_t i) { return at::from_blob(memory[i], {y.size(1)}, at::kFloat); };
  channels(3).copy_(wide.sum({0, 2, 3}));
  channels(4).copy_(wide.square().sum({0, 2, 3}));
}

/// A bit per element of `positive`, in NHWC, and back. REQUIRES: elements a multiple of 8.
inline at::Tensor packedMask(const at::Tensor& positive) {
  const at::Tensor bits = positive.permute({0, 2, 3, 1}).reshape({-1, 8}).to(at::kByte);
  return bits.bitwise_left_shift(at::arange(8, at::kByte)).sum(1, false, at::kByte);
}
inline at::Tensor unpackedMask(const at::Tensor& mask, at::IntArrayRef shape) {
  const at::Tensor bits = mask.unsqueeze(1).bitwise_right_shift(at::arange(8, at::kByte)).bitwise_and(1);
  return bits.view({shape[0], shape[2], shape[3], shape[1]}).permute({0, 3, 1, 2}).to(at::kFloat);
}

/// The problem's tensors over memory of the host, in the order of cudnnNormPlans().
class NormMemory {
 public:
  NormMemory(const NormProblem& problem, std::span<void* const> memory) : p_(problem), memory_(memory) {}

  at::Tensor activation(size_t i) const {
    constexpr std::array types{at::kFloat, at::kBFloat16, at::kHalf};
    const int64_t c = p_.channels, w = p_.width;
    return at::from_blob(memory_[i], shape(), {c * p_.height * w, 1, c * w, c},
                         at::TensorOptions(types.at(static_cast<size_t>(p_.type))));
  }
  at::Tensor wide(size_t i) const { return activation(i).to(at::kFloat); }
  at::Tensor channels(size_t i) const { return at::from_blob(memory_[i], {p_.channels}, at::kFloat); }
  at::Tensor mask(size_t i) const { return at::from_blob(memory_[i], {p_.maskBytes()}, at::kByte); }
  std::array<int64_t, 4> shape() const { return {p_.images, p_.channels, p_.height, p_.width}; }

 private:
  const NormProblem& p_;
  std::span<void* const> memory_;
};

inline at::Tensor acrossChannels(const at::Tensor& values) { return values.view({1, -1, 1, 1}); }

/// By the definition, in fp32: what it wrote, y or dx.
inline at::Tensor computeNormForward(const NormProblem& p, std::span<void* const> memory) {
  const NormMemory t(p, memory);
  const at::Tensor x = t.wide(0);
  const double count = static_cast<double>(p.elements()) / static_cast<double>(p.channels);
  const at::Tensor mean = x.mean({0, 2, 3}), variance = x.var({0, 2, 3}, /*unbiased=*/false);
  t.channels(7).copy_(mean), t.channels(8).copy_((variance + p.epsilon).rsqrt());
  t.channels(9).copy_(t.channels(3) * (1 - p.momentum) + mean * p.momentum);
  t.channels(10).copy_(t.channels(4) * (1 - p.momentum) + variance * (p.momentum * count / (count - 1)));
  const at::Tensor normal = (x - acrossChannels(mean)) * acrossChannels(t.channels(8) * t.channels(1));
  at::Tensor y = normal + acrossChannels(t.channels(2));
  if (p.residual) y = y + t.wide(5);
  t.mask(11).copy_(packedMask(y > 0));
  return t.activation(6).copy_(y.relu());
}

inline at::Tensor computeNormBackward(const NormProblem& p, std::span<void* const> memory) {
  const NormMemory t(p, memory);
  const at::Tensor masked = t.wide(0) * unpackedMask(t.mask(1), t.shape());
  const at::Tensor normal = (t.wide(2) - acrossChannels(t.channels(4))) * acrossChannels(t.channels(5));
  const double count = static_cast<double>(p.elements()) / static_cast<double>(p.channels);
  const at::Tensor scale = (masked * normal).sum({0, 2, 3}), shift = masked.sum({0, 2, 3});
  t.channels(7).copy_(scale), t.channels(8).copy_(shift);
  if (p.residual) t.activation(9).copy_(masked);
  const at::Tensor without = masked - acrossChannels(shift / count) - normal * acrossChannels(scale / count);
  return t.activation(6).copy_(without * acrossChannels(t.channels(3) * t.channels(5)));
}

/// "plain"; "roomy", which needs workspace; "refusing", which does not serve.
class StandInPlans final : public ExecutionPlans {
 public:
  using Compute = std::function<at::Tensor(std::span<void* const>)>;
  StandInPlans(const ConvolutionProblem& problem, EngineLog& log)
      : problem_(problem.text()),
        compute_([=, &log](std::span<void* const> memory) {
          at::Tensor result = computePass(problem, memory);
          if (problem.sums) {
            computeSums(result, log.sumsShift, memory);
            ++log.sums;
          }
          return result;
        }),
        log_(log) {
    ++log.made;
  }
  StandInPlans(const NormProblem& problem, EngineLog& log)
      : problem_(problem.text()),
        compute_([=](std::span<void* const> memory) {
          return problem.backward ? computeNormBackward(problem, memory) : computeNormForward(problem, memory);
        }),
        log_(log) {
    ++log.made;
  }

  std::span<const std::string> names() const override { return names_; }
  std::optional<int64_t> prepare(size_t engine) override {
    if (engine == 2) return std::nullopt;
    return engine == 1 ? 4096 : 0;
  }
  void run(size_t engine, std::span<void* const> tensors, void* workspace) override {
    log_.runs.push_back(names_.at(engine));
    log_.problem = problem_;
    log_.workspaceFits = log_.workspaceFits && (engine == 1) == (workspace != nullptr);
    const at::Tensor result = compute_(tensors);
    if (names_.at(engine) == log_.wrong) result.mul_(2);
  }

 private:
  std::string problem_;
  Compute compute_;
  EngineLog& log_;
  std::vector<std::string> names_{"plain", "roomy", "refusing"};
};

}  // namespace tandem

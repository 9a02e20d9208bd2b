#include "kernels/norm/norm_act.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/text.h"
#include "kernels/conv/nchwc.h"
#include "kernels/numerical_gradient.h"
#include "norm_act_ways.h"

namespace tandem {
namespace {

struct Shape {
  int64_t images, channels, height, width;
};

using Case = std::tuple<Shape, at::ScalarType, Activation, bool /*residual*/, bool /*training*/>;

/// A forward and a backward with everything that they give, as fp64.
struct Results {
  at::Tensor y, x, residual, scale, shift, runningMean, runningVar;
  double terms = 0;  // norm of the terms whose difference x is
};

class NormAct : public testing::TestWithParam<Case> {
 protected:
  NormAct() {
    const Shape shape = std::get<0>(GetParam());
    const auto type = std::get<1>(GetParam());
    const Activation activation = std::get<2>(GetParam());
    const bool residual = std::get<3>(GetParam()), training = std::get<4>(GetParam());
    at::manual_seed(11);
    const auto images = [&] {
      return at::randn({shape.images, shape.channels, shape.height, shape.width})
          .to(type)
          .contiguous(at::MemoryFormat::ChannelsLast);
    };
    x_ = (3 + 2 * images()).to(type);
    if (residual) residual_ = images();
    gradients_ = {images(), images(), images()};
    parameters_ = {at::rand({shape.channels}) + 0.5, at::randn({shape.channels}), at::randn({shape.channels}),
                   at::rand({shape.channels}) + 0.5};
    if (activation > Activation::relu) parameters_.scale *= 3;  // beyond the kinks at 3 and 6
    options_ = {1e-5, 0.1, activation, training};
  }

  static Way onCpu() { return {"cpu", at::kCPU, false}; }

  enum class By { kernel, kernelOnStrided, blockedKernel, blockedKernelOnStrided, aten, exact };
  static bool isBlocked(By by) { return by == By::blockedKernel || by == By::blockedKernelOnStrided; }
  static bool isStrided(By by) { return by == By::kernelOnStrided || by == By::blockedKernelOnStrided; }

  /// By the kernel on plain or on blocked tensors, dense or strided, by ATen in the same type, or by ATen in fp64 from
  /// the same (rounded) inputs.
  Results run(const Way& way, By by, int64_t gradientCount) const {
    const auto placed = [&](const at::Tensor& tensor) {
      const auto type = [&] { return by == By::exact ? at::kDouble : tensor.scalar_type(); };
      if (!tensor.defined()) return tensor;
      at::Tensor there =
          isBlocked(by) && tensor.dim() == 4 ? toBlocked(tensor) : tensor.to(way.device, type(), false, true);
      return isStrided(by) && tensor.dim() == 4 ? strided(there) : there;
    };
    const auto plain = [&](const at::Tensor& tensor) {
      return isBlocked(by) && tensor.defined() ? fromBlocked(tensor, x_.size(0)) : tensor;
    };
    NormParameters parameters{placed(parameters_.scale), placed(parameters_.shift), placed(parameters_.runningMean),
                              placed(parameters_.runningVar)};
    NormActSaved saved;
    const at::Tensor x = placed(x_);
    Results results;
    const bool byKernel = by != By::aten && by != By::exact;
    const at::Tensor residual = placed(residual_);
    const at::Tensor y = byKernel ? way.forward(x, residual, parameters, options_, saved)
                                  : normActReference(x, residual, parameters, options_, saved);
    results.y = plain(y).clone();
    std::vector<at::Tensor> gradients;
    for (int64_t i = 0; i < gradientCount; ++i) gradients.push_back(placed(gradients_[static_cast<size_t>(i)]));
    const NormActGradients back =
        byKernel ? way.backward(std::move(gradients), saved, residual_.defined(), options_)
                 : normActBackwardReference(std::move(gradients), saved, residual_.defined(), options_);
    results.x = plain(back.x), results.residual = plain(back.residual), results.scale = back.scale,
    results.shift = back.shift;
    if (by == By::exact && options_.training) {
      const at::Tensor slope = (parameters.scale * saved.inverseDeviation).view({1, -1, 1, 1});
      for (int64_t i = 0; i < gradientCount; ++i) {
        results.terms += (slope * placed(gradients_[static_cast<size_t>(i)])).norm().item<double>();
      }
    }
    results.runningMean = parameters.runningMean, results.runningVar = parameters.runningVar;
    return results;
  }

  at::Tensor x_, residual_;
  std::vector<at::Tensor> gradients_;
  NormParameters parameters_;
  NormActOptions options_;
};

/// fp32: 1e-5 of the tensor's norm. bf16: each element is rounded once, to 2^-9 of itself at most (fp16: 2^-12), and a
/// sum of two rounded tensors rounds once more. `terms`: where the result is a small difference of larger terms, 1e-6
/// of their norm is rounding of fp32. ATen loses more here and there (bf16 sums of three gradients): four times that is
/// allowed.
void expectClose(const at::Tensor& actual, const at::Tensor& aten, const at::Tensor& exact, at::ScalarType type,
                 double terms = 0) {
  const double bound = type == at::kFloat ? 1e-5 : type == at::kHalf ? 0x1p-11 : 0x1p-8;
  const auto distance = [&](const at::Tensor& to) { return (to.to(at::kCPU, at::kDouble) - exact.cpu()).norm(); };
  EXPECT_LE(distance(actual).item<double>(),
            std::max(bound * exact.norm().item<double>(), 4 * distance(aten).item<double>()) + 1e-6 * terms);
}

void expectClose(const Results& actual, const Results& aten, const Results& exact, at::ScalarType type) {
  expectClose(actual.y, aten.y, exact.y, type);
  expectClose(actual.x, aten.x, exact.x, type, exact.terms);
  EXPECT_EQ(actual.residual.defined(), exact.residual.defined());
  if (exact.residual.defined()) expectClose(actual.residual, aten.residual, exact.residual, type);
  expectClose(actual.scale, aten.scale, exact.scale, type);
  expectClose(actual.shift, aten.shift, exact.shift, type);
  expectClose(actual.runningMean, aten.runningMean, exact.runningMean, at::kFloat);
  expectClose(actual.runningVar, aten.runningVar, exact.runningVar, at::kFloat);
}

TEST_P(NormAct, EqualsAtenInDoublePrecision) {
  const auto type = std::get<1>(GetParam());
  for (const Way& way : ways()) {
    if (!normActHas(options_.activation, way.simulated ? at::kCUDA : way.device)) continue;
    for (const int64_t gradients : {1, 2, 3}) {
      SCOPED_TRACE(concat(way.name, ", ", gradients, " gradient(s)"));
      const Results aten = run(way, By::aten, gradients), exact = run(way, By::exact, gradients);
      for (const By by : {By::kernel, By::kernelOnStrided}) expectClose(run(way, by, gradients), aten, exact, type);
    }
  }
}

TEST_P(NormAct, OnBlockedTensorsToo) {
  if (!canBlock(x_.size(1))) GTEST_SKIP() << "channels that are no whole blocks";
  for (const int64_t gradients : {1, 2}) {
    SCOPED_TRACE(concat(gradients, " gradient(s)"));
    const Results aten = run(onCpu(), By::aten, gradients), exact = run(onCpu(), By::exact, gradients);
    for (const By by : {By::blockedKernel, By::blockedKernelOnStrided}) {
      expectClose(run(onCpu(), by, gradients), aten, exact, std::get<1>(GetParam()));
    }
  }
}

TEST_P(NormAct, DoesNotDependOnTheNumberOfThreads) {
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const Results one = run(onCpu(), By::kernel, 1);
  at::set_num_threads(3);
  const Results three = run(onCpu(), By::kernel, 1);
  at::set_num_threads(before);
  EXPECT_TRUE(one.y.equal(three.y));
  EXPECT_TRUE(one.x.equal(three.x));
  EXPECT_TRUE(one.scale.equal(three.scale));
  EXPECT_TRUE(one.runningVar.equal(three.runningVar));
}

std::string nameOf(const testing::TestParamInfo<Case>& row) {
  const auto& [shape, type, activation, residual, training] = row.param;
  return concat(shape.images, "x", shape.channels, "x", shape.height, "x", shape.width, "_", c10::toString(type),
                activation == Activation::none ? "" : concat("_", operationOf(activation)), residual ? "_residual" : "",
                training ? "_train" : "_eval");
}

// Whole vectors, vectors and a rest, one channel (also in joined rows), one image, both, odd sizes, more rows than a
// chunk; more channels than a GPU's block holds side by side, in whole accesses and not.
INSTANTIATE_TEST_SUITE_P(Shapes, NormAct,
                         testing::Combine(testing::Values(Shape{4, 64, 7, 5}, Shape{2, 16, 8, 8}, Shape{3, 3, 5, 7},
                                                          Shape{5, 1, 9, 3}, Shape{4, 1, 8, 6}, Shape{1, 1, 3, 5},
                                                          Shape{1, 37, 3, 3}, Shape{2, 100, 1, 1}, Shape{3, 80, 41, 29},
                                                          Shape{2, 264, 3, 5}, Shape{3, 70, 5, 4}),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                                          testing::Values(Activation::none, Activation::relu), testing::Bool(),
                                          testing::Bool()),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Activations, NormAct,
                         testing::Combine(testing::Values(Shape{4, 64, 7, 5}, Shape{5, 1, 9, 3}, Shape{3, 80, 41, 29}),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                                          testing::Values(Activation::relu6, Activation::silu, Activation::hardSwish),
                                          testing::Values(false), testing::Bool()),
                         nameOf);

// Far beyond what an exponential can hold.
TEST(NormAct, SiluOfLargeValuesIsTheValueOrNothing) {
  const at::Tensor x = at::tensor({-1e4F, -200.F, -50.F, 50.F, 200.F, 1e4F}).repeat({3}).view({1, 18, 1, 1});
  const at::Tensor zeros = at::zeros({18}), ones = at::ones({18}), input = x.contiguous(at::MemoryFormat::ChannelsLast);
  NormActSaved saved;
  const NormActOptions options{.epsilon = 0, .activation = Activation::silu, .training = false};
  const at::Tensor y = normAct(input, {}, {ones, zeros, zeros, ones}, options, saved);
  EXPECT_LE((y - x.clamp_min(0)).abs().max().item<double>(), 1e-20);
  const auto gradients = normActBackward({at::ones_like(input)}, saved, false, options);
  EXPECT_LE((gradients.x - (x > 0).to(at::kFloat)).abs().max().item<double>(), 1e-18);
}

struct Differentiated {
  at::Tensor x, residual, scale, shift;
};

/// Values about 1 and -1, so that with the small shifts below the ReLU's kink is far.
Differentiated awayFromTheKink() {
  at::manual_seed(12);
  const std::array<int64_t, 4> shape{3, 2 * blockChannels(), 5, 3};
  const auto images = [&] { return at::randn(shape).contiguous(at::MemoryFormat::ChannelsLast); };
  const int64_t channels = shape[1];
  return {images().sign() + 0.05 * images(), 0.05 * images(), 1 + 0.2 * at::rand({channels}),
          0.05 * at::randn({channels})};
}

/// A kernel's gradients and slopes of what it gives forward.
class NormActSlopes {
 public:
  NormActSlopes(bool blocked, bool hasResidual, NormActOptions options)
      : blocked_(blocked), hasResidual_(hasResidual), options_(options), at_(awayFromTheKink()) {
    weights_ = at::randn_like(at_.x);
  }

  void expectAgreement() {
    NormActSaved saved;
    forward(at_, saved);
    const auto back = normActBackward({placed(weights_)}, saved, hasResidual_, options_);
    expectSlope(&Differentiated::x, plain(back.x));
    if (hasResidual_) expectSlope(&Differentiated::residual, plain(back.residual));
    expectSlope(&Differentiated::scale, back.scale);
    expectSlope(&Differentiated::shift, back.shift);
  }

 private:
  at::Tensor placed(const at::Tensor& tensor) const { return blocked_ ? toBlocked(tensor) : tensor; }
  at::Tensor plain(const at::Tensor& tensor) const { return blocked_ ? fromBlocked(tensor, 3) : tensor; }

  at::Tensor forward(const Differentiated& in, NormActSaved& saved) const {
    const at::Tensor zeros = at::zeros_like(in.scale);
    const NormParameters parameters{in.scale, in.shift, zeros, at::ones_like(zeros)};
    const at::Tensor residual = hasResidual_ ? placed(in.residual) : at::Tensor();
    return plain(normAct(placed(in.x), residual, parameters, options_, saved));
  }

  void expectSlope(at::Tensor Differentiated::*member, const at::Tensor& gradient) const {
    const auto f = [&](const at::Tensor& value) {
      Differentiated in = at_;
      in.*member = value;
      NormActSaved saved;
      return weighted(weights_, forward(in, saved));
    };
    expectNumericalGradient(f, at_.*member, gradient);
  }

  bool blocked_, hasResidual_;
  NormActOptions options_;
  Differentiated at_;
  at::Tensor weights_;
};

TEST(NormActGradient, AgreesWithTheNumericalOne) {
  for (const Activation activation :
       {Activation::none, Activation::relu, Activation::relu6, Activation::silu, Activation::hardSwish}) {
    for (const int bits : {0, 1, 2, 3, 4, 5, 6, 7}) {
      const bool blocked = bits & 1, residual = bits & 2, training = bits & 4;
      if (residual && activation > Activation::relu) continue;
      SCOPED_TRACE(concat(blocked ? "blocked" : "plain", residual ? ", residual, " : ", ", operationOf(activation),
                          training ? ", training" : ", evaluation"));
      NormActSlopes(blocked, residual, {1e-5, 0.1, activation, training}).expectAgreement();
    }
  }
}

}  // namespace
}  // namespace tandem

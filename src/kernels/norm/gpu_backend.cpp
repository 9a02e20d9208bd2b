#include <ATen/ATen.h>

#include <initializer_list>

#include "base/error.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/norm/backend.h"

namespace tandem {
namespace {

// The widest access that the number of channels and the addresses allow.
int accessWidth(Element type, int64_t channels, std::initializer_list<const void*> places) {
  const int width = widestAccess(type);
  const auto size = static_cast<uintptr_t>(width) * static_cast<uintptr_t>(bytesOf(type));
  bool fits = channels % width == 0;
  for (const void* place : places) fits = fits && reinterpret_cast<uintptr_t>(place) % size == 0;
  return fits ? width : 1;
}

NormGrid gridOf(const at::Tensor& x, std::initializer_list<const void*> places) {
  const int64_t channels = x.size(1);
  return {x.numel() / channels, channels, accessWidth(elementOf(x, "normAct"), channels, places)};
}

// [rows, C] fp32 on the device of x.
at::Tensor perChannel(const at::Tensor& x, int64_t rows) {
  return at::empty({rows, x.size(1)}, x.options().dtype(at::kFloat));
}

/// Allocates the per-channel values in `saved`.
NormChannels channelsOf(const at::Tensor& x, const NormActOptions& options, NormActSaved& saved) {
  const NormParameters& p = saved.parameters;
  check(p.scale.numel() == x.size(1), "normAct: a scale per channel");
  const at::Tensor memory = perChannel(x, 4);
  saved.inverseDeviation = memory[0], saved.factor = memory[1], saved.offset = memory[2];
  saved.mean = options.training ? memory[3] : p.runningMean;
  return {p.scale.const_data_ptr<float>(),          p.shift.const_data_ptr<float>(), options.epsilon,
          saved.inverseDeviation.data_ptr<float>(), saved.factor.data_ptr<float>(),  saved.offset.data_ptr<float>()};
}

/// The same in training, with the batch statistics.
NormBatch batchOf(const at::Tensor& x, const NormActOptions& options, NormActSaved& saved) {
  const NormChannels channels = channelsOf(x, options, saved);
  const NormParameters& p = saved.parameters;
  const int64_t valuesPerChannel = x.numel() / x.size(1);
  return {channels,
          saved.mean.data_ptr<float>(),
          p.runningMean.data_ptr<float>(),
          p.runningVar.data_ptr<float>(),
          options.momentum,
          static_cast<double>(valuesPerChannel)};
}

class GpuNormAct final : public NormActPasses {
 public:
  using Run = void (*)(const NormProgram&, const at::Tensor&);
  explicit GpuNormAct(Run run) : run_(run) {}

  void statistics(const at::Tensor& x, const NormActOptions& options, NormActSaved& saved) const override {
    if (!options.training) {
      const NormChannels channels = channelsOf(x, options, saved);
      const NormParameters& p = saved.parameters;
      return run_(NormEvaluate{x.size(1), p.runningMean.const_data_ptr<float>(), p.runningVar.const_data_ptr<float>(),
                               channels},
                  x);
    }
    const NormGrid grid = gridOf(x, {x.const_data_ptr()});
    const at::Tensor partials = perChannel(x, 2 * grid.chunks);
    auto* const sums = partials.data_ptr<float>();
    run_(NormStatistics{grid, elementOf(x, "normAct"), x.const_data_ptr(), sums}, x);
    run_(NormFinish{grid, sums, batchOf(x, options, saved)}, x);
  }

  void statistics(const at::Tensor& x, const ChannelStats& sums, const NormActOptions& options,
                  NormActSaved& saved) const override {
    check(sums.sum.numel() == x.size(1), "normAct: sums per channel");
    run_(NormFromSums{x.size(1), sums.sum.const_data_ptr<float>(), sums.squares.const_data_ptr<float>(),
                      sums.about.defined() ? sums.about.const_data_ptr<float>() : nullptr, batchOf(x, options, saved)},
         x);
  }

  void normalise(const at::Tensor& x, const NormActSaved& saved, NormActArguments a) const override {
    setColumns(a, x.size(1), saved.factor, saved.offset);
    run_(NormApply{gridOf(x, {a.x, a.residual, a.y}), a}, x);
  }

  void gradients(const at::Tensor& x, const NormActSaved& saved, bool training, NormActGradientArguments a,
                 NormActGradients& result) const override {
    const NormGrid grid = gridOf(x, {a.gradients[0], a.gradients[1], a.x, a.y, a.masked, a.dx});
    const at::Tensor partials = perChannel(x, 2 * grid.chunks), memory = perChannel(x, 4);
    result.scale = memory[0], result.shift = memory[1];
    auto* const bias = memory[2].data_ptr<float>();
    auto* const slope = memory[3].data_ptr<float>();
    auto* const sums = partials.data_ptr<float>();
    setColumns(a, x.size(1), saved.factor, saved.offset);
    a.mean = saved.mean.const_data_ptr<float>();
    a.bias = bias, a.slope = slope;
    run_(NormSums{grid, a, sums}, x);
    run_(NormSumsFinish{grid, sums, saved.inverseDeviation.const_data_ptr<float>(), a.factor, training,
                        result.scale.data_ptr<float>(), result.shift.data_ptr<float>(), bias, slope},
         x);
    run_(NormGradient{grid, a}, x);
  }

 private:
  Run run_;
};

}  // namespace

std::unique_ptr<const NormActPasses> normActInBlocks(void (*run)(const NormProgram&, const at::Tensor&)) {
  return std::make_unique<GpuNormAct>(run);
}

}  // namespace tandem

#include <ATen/ATen.h>

#include <initializer_list>

#include "base/error.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/norm/backend.h"

namespace tandem {
namespace {

int64_t rowsOf(const at::Tensor& x) { return x.numel() / x.size(1); }

// [rows, C / width], for a thread that writes `width` values of y at once.
at::Tensor newMask(const at::Tensor& x, int width) {
  return at::empty({rowsOf(x), x.size(1) / width}, x.options().dtype(at::kByte));
}

// For memory of newMask(); undefined: no mask.
ReluMask maskIn(const at::Tensor& memory, const at::Tensor& x) {
  if (!memory.defined()) return {nullptr, 0};
  return {memory.data_ptr<uint8_t>(), ReluMask::logOf(static_cast<int>(x.size(1) / memory.size(1)))};
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
    const NormGrid grid = NormGrid::ofSums(
        rowsOf(x), x.size(1), accessWidth<NormStatistics>(elementOf(x, "normAct"), x.size(1), {x.const_data_ptr()}));
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

  void normalise(const at::Tensor& x, NormActArguments a, NormActSaved& saved) const override {
    setColumns(a, x.size(1), saved.factor, saved.offset);
    const int width = accessWidth<NormApply>(elementOf(x, "normAct"), x.size(1), {a.x, a.residual, a.y});
    saved.reluMask = a.activation == Activation::relu && a.residual ? newMask(x, width) : at::Tensor();
    run_(NormApply{NormGrid::ofValues(rowsOf(x), x.size(1), width), a, maskIn(saved.reluMask, x)}, x);
  }

  void gradients(const at::Tensor& x, const at::Tensor&, const NormActSaved& saved, const NormActOptions& options,
                 NormActGradientArguments a, NormActGradients& result) const override {
    const ReluMask mask = maskIn(saved.reluMask, x);
    int width = accessWidth<NormSums>(elementOf(x, "normAct"), x.size(1),
                                      {a.gradients[0], a.gradients[1], a.x, a.y, a.masked, a.dx});
    if (mask.bytes && mask.width() < width) width = 1;  // forward wrote it value by value
    check(a.masked || !(a.y || mask.bytes), "normActBackward: a kept mask is that of a sum with a residual");
    const NormGrid grid = NormGrid::ofSums(rowsOf(x), x.size(1), width);
    const at::Tensor partials = perChannel(x, 2 * grid.chunks), memory = perChannel(x, 4);
    if (!result.scale.defined()) result.scale = memory[0], result.shift = memory[1];
    auto* const bias = memory[2].data_ptr<float>();
    auto* const slope = memory[3].data_ptr<float>();
    auto* const sums = partials.data_ptr<float>();
    setColumns(a, x.size(1), saved.factor, saved.offset);
    a.mean = saved.mean.const_data_ptr<float>();
    a.bias = bias, a.slope = slope;
    run_(NormSums{grid, a, mask, sums}, x);
    run_(NormSumsFinish{grid, sums, saved.inverseDeviation.const_data_ptr<float>(), a.factor, options.training,
                        elementOf(result.scale, "normActBackward"), result.scale.data_ptr(), result.shift.data_ptr(),
                        bias, slope},
         x);
    run_(NormGradient{NormGrid::ofValues(grid.rows, grid.channels, width), a}, x);
  }

 private:
  Run run_;
};

}  // namespace

std::unique_ptr<const NormActPasses> normActInBlocks(void (*run)(const NormProgram&, const at::Tensor&)) {
  return std::make_unique<GpuNormAct>(run);
}

}  // namespace tandem

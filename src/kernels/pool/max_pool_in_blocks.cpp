#include "kernels/pool/max_pool_in_blocks.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/error.h"
#include "kernels/gpu/dispatch.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

using Shape = std::vector<int64_t>;  // [N, C, H, W]

int64_t windowsOver(int64_t inputs, const PoolWindow& window, size_t axis) {
  const int64_t kernel = window.kernel[axis], stride = window.stride[axis], padding = window.padding[axis];
  check(kernel > 0 && stride > 0 && padding >= 0 && 2 * padding <= kernel && inputs + 2 * padding >= kernel,
        "maxPool: windows with an input each");
  const int64_t steps = inputs + 2 * padding - kernel;
  if (!window.ceilMode) return steps / stride + 1;
  const int64_t windows = (steps + stride - 1) / stride + 1;
  return (windows - 1) * stride < inputs + padding ? windows : windows - 1;
}

Shape outputShape(at::IntArrayRef inputs, const PoolWindow& window) {
  check(inputs.size() == 4, "maxPool: x [N, C, H, W]");
  return {inputs[0], inputs[1], windowsOver(inputs[2], window, 0), windowsOver(inputs[3], window, 1)};
}

int64_t countOf(at::IntArrayRef shape) { return c10::multiply_integers(shape); }

PacketGrid packetsOf(at::IntArrayRef shape, int width) {
  const auto divisor = [](int64_t value) { return Divisor(static_cast<int>(value)); };
  check(countOf(shape) / width <= PacketGrid::most, "maxPool: tensors whose packets can be numbered");
  return {static_cast<int>(countOf(shape) / width), divisor(shape[2]), divisor(shape[3]), divisor(shape[1] / width)};
}

PoolAxis axisOf(int64_t inputs, int64_t windows, const PoolWindow& window, size_t axis) {
  // A longer stride than the padded input has no second window.
  const int64_t stride = std::min(window.stride[axis], inputs + window.padding[axis]);
  return {static_cast<int>(inputs), static_cast<int>(windows), static_cast<int>(window.kernel[axis]),
          static_cast<int>(window.padding[axis]), Divisor(static_cast<int>(stride))};
}

PoolGrid gridOf(at::IntArrayRef inputs, at::IntArrayRef outputs, const PoolWindow& window, int width) {
  return {packetsOf(inputs, width), packetsOf(outputs, width), axisOf(inputs[2], outputs[2], window, 0),
          axisOf(inputs[3], outputs[3], window, 1)};
}

}  // namespace

bool canNumberPackets(const at::Tensor& x, const PoolWindow& window) {
  const int width = accessWidth<MaxPoolForward>(elementOf(x, "maxPool"), x.size(1), {x.const_data_ptr()});
  const int64_t most = std::max(x.numel(), countOf(outputShape(x.sizes(), window)));
  return most / width <= PacketGrid::most;
}

at::Tensor maxPoolInBlocks(RunMaxPool run, const at::Tensor& x, const PoolWindow& window, MaxPoolSaved* saved) {
  const Shape outputs = outputShape(x.sizes(), window);
  const Element type = elementOf(x, "maxPool");
  at::Tensor y = at::empty(outputs, x.options().memory_format(channelsLast)), places;
  if (saved != nullptr) places = at::empty(outputs, y.options().dtype(at::kByte).memory_format(channelsLast));
  const Access access{type, accessWidth<MaxPoolForward>(type, x.size(1), {x.const_data_ptr(), y.data_ptr()})};
  run(MaxPoolForward{gridOf(x.sizes(), outputs, window, access.width), access, x.const_data_ptr(), y.data_ptr(),
                     places.defined() ? places.data_ptr<uint8_t>() : nullptr},
      x);
  if (saved != nullptr) *saved = {std::move(places), {}, x.sizes().vec()};
  return y;
}

at::Tensor maxPoolBackwardInBlocks(RunMaxPool run, const at::Tensor& given, const PoolWindow& window,
                                   const MaxPoolSaved& saved) {
  const at::Tensor gradient = given.contiguous(channelsLast);
  check(gradient.sizes() == saved.places.sizes(), "maxPoolBackward: a gradient like y");
  const Element type = elementOf(gradient, "maxPoolBackward");
  at::Tensor dx = at::empty(saved.shape, gradient.options().memory_format(channelsLast));
  const Access access{type,
                      accessWidth<MaxPoolBackward>(type, gradient.size(1), {gradient.const_data_ptr(), dx.data_ptr()})};
  run(MaxPoolBackward{gridOf(saved.shape, gradient.sizes(), window, access.width), access, gradient.const_data_ptr(),
                      saved.places.const_data_ptr<uint8_t>(), dx.data_ptr()},
      gradient);
  return dx;
}

}  // namespace tandem

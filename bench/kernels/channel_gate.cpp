// Squeeze-and-excite of EfficientNet-B0: means of channels, and the gradients of a product with a number per channel:
// the kernel, and the ATen operations that autograd would run (its oracle). Minimum traffic, in tensors of the size of
// x: means 1, the gradients of a product 3. `blocked`: in blocks of 16 channels, as convolutions leave x.
#include "kernels/channel/channel_gate.h"

#include <ATen/ATen.h>

#include <memory>

#include "kernels/conv/nchwc.h"
#include "rows.h"

namespace tandem::bench {
namespace {

constexpr std::array gatedActivations{
    Activation{"efficientnet_b0", 16, 96, 56, 56},
    Activation{"efficientnet_b0", 16, 240, 28, 28},
    Activation{"efficientnet_b0", 16, 672, 14, 14},
};

struct Gated {
  Gated(const Activation& shape, at::ScalarType type, bool blocked) {
    const Activation pixel{shape.model, shape.images, shape.channels, 1, 1};
    const auto made = [=](const Activation& of) {
      return blocked ? toBlocked(randomImages(of, type)) : randomImages(of, type);
    };
    x = made(shape), gradient = made(shape), gate = made(pixel);
  }
  at::Tensor x, gate, gradient;
};

struct Row {
  const char* name;
  double tensors;
  void (*kernel)(const Gated&);
  void (*aten)(const Gated&);
};

constexpr std::array gateRows{
    Row{"channel_means", 1, [](const Gated& g) { channelMeans(g.x); },
        [](const Gated& g) {
          at::adaptive_avg_pool2d(g.x, {1, 1});
        }},
    Row{"channel_product_backward", 3, [](const Gated& g) { channelProductBackward(g.gradient, g.x, g.gate); },
        [](const Gated& g) {
          at::mul(g.gradient, g.gate);
          at::sum(at::mul(g.gradient, g.x), {2, 3}, /*keepdim=*/true);
        }},
};

void addRow(const Row& row, const Activation& shape, at::ScalarType type, bool blocked, const Peaks& peaks) {
  const double tensor = static_cast<double>(shape.count() * bytesOf(type));
  const std::string name = concat(row.name, "/", shape.name(), blocked ? "_blocked/" : "/", nameOf(type), "/");
  const auto add = [&](const char* by, void (*run)(const Gated&)) {
    addByteRow(name + by, peaks, row.tensors * tensor,
               [=]() -> Call { return [run, gated = std::make_shared<Gated>(shape, type, blocked)] { run(*gated); }; });
  };
  add("kernel", row.kernel);
  add("aten", row.aten);
}

}  // namespace

void addChannelGateRows(const Peaks& peaks) {
  for (const Row& row : gateRows) {
    for (const Activation& shape : gatedActivations) {
      for (const at::ScalarType type : elementTypes) {
        for (const bool blocked : {false, true}) addRow(row, shape, type, blocked, peaks);
      }
    }
  }
}

}  // namespace tandem::bench

// Layer-norm and GELU of ConvNeXt-Tiny: the kernel, and the ATen operations that autograd would run (its oracle).
// Minimum traffic, in tensors of the size of x: forward 2, backward 3.
#include <ATen/ATen.h>

#include <memory>

#include "kernels/tensor/pixels.h"
#include "kernels/transformer/gelu.h"
#include "kernels/transformer/layer_norm.h"
#include "rows.h"

namespace tandem::bench {
namespace {

constexpr double epsilon = 1e-6;
constexpr std::array normalised{
    Activation{"convnext_tiny", 16, 96, 56, 56},
    Activation{"convnext_tiny", 16, 384, 14, 14},
};
constexpr std::array activated{
    Activation{"convnext_tiny", 16, 384, 56, 56},
    Activation{"convnext_tiny", 16, 1536, 14, 14},
};

struct Case {
  Case(const Activation& shape, at::ScalarType type)
      : x(randomImages(shape, type)),
        gradient(randomImages(shape, type)),
        scale(at::randn({shape.channels})),
        shift(at::randn({shape.channels})) {
    layerNorm(x, scale, shift, epsilon, saved);
    atens = at::native_layer_norm(channelsBehind(x), {x.size(1)}, scale, shift, epsilon);
  }

  at::Tensor x, gradient, scale, shift;
  LayerNormSaved saved;
  std::tuple<at::Tensor, at::Tensor, at::Tensor> atens;
};

struct Row {
  const char* name;
  double tensors;
  void (*kernel)(const Case&);
  void (*aten)(const Case&);
};

constexpr Row layerNormForward{
    "layer_norm", 2,
    [](const Case& c) {
      LayerNormSaved saved;
      layerNorm(c.x, c.scale, c.shift, epsilon, saved);
    },
    [](const Case& c) { at::layer_norm(channelsBehind(c.x), {c.x.size(1)}, c.scale, c.shift, epsilon); }};
constexpr Row layerNormGradient{
    "layer_norm_backward", 3, [](const Case& c) { layerNormBackward(c.gradient, c.x, c.scale, c.saved); },
    [](const Case& c) {
      at::native_layer_norm_backward(channelsBehind(c.gradient), channelsBehind(c.x), {c.x.size(1)},
                                     std::get<1>(c.atens), std::get<2>(c.atens), c.scale, c.shift, {true, true, true});
    }};
constexpr Row geluRow{"gelu", 2, [](const Case& c) { geluForward(c.x); }, [](const Case& c) { at::gelu(c.x); }};
constexpr Row geluGradient{"gelu_backward", 3, [](const Case& c) { geluBackward(c.gradient, c.x); },
                           [](const Case& c) { at::gelu_backward(c.gradient, c.x); }};

void addRow(const Row& row, const Activation& shape, at::ScalarType type, const Peaks& peaks) {
  const double tensor = static_cast<double>(shape.count() * bytesOf(type));
  const std::string name = concat(row.name, "/", shape.name(), "/", nameOf(type), "/");
  const auto add = [&](const char* by, void (*run)(const Case&)) {
    addByteRow(name + by, peaks, row.tensors * tensor,
               [=]() -> Call { return [run, made = std::make_shared<Case>(shape, type)] { run(*made); }; });
  };
  add("kernel", row.kernel);
  add("aten", row.aten);
}

}  // namespace

void addTransformerRows(const Peaks& peaks) {
  for (const at::ScalarType type : elementTypes) {
    for (const Activation& shape : normalised) {
      addRow(layerNormForward, shape, type, peaks);
      addRow(layerNormGradient, shape, type, peaks);
    }
    for (const Activation& shape : activated) {
      addRow(geluRow, shape, type, peaks);
      addRow(geluGradient, shape, type, peaks);
    }
  }
}

}  // namespace tandem::bench

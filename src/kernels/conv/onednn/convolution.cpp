#include "kernels/conv/convolution.h"

#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "kernels/conv/algorithms.h"
#include "kernels/conv/nchwc.h"
#include "kernels/conv/onednn.h"

namespace tandem {
namespace {

using namespace onednn;

bool isInBlocks(const at::Tensor& weight) { return weight.dim() == 6; }

Dims dimsOf(const at::Tensor& weight) {
  if (!isInBlocks(weight)) return weight.sizes().vec();
  return {weight.size(0) * weight.size(1), weight.size(2) * weight.size(3), weight.size(4), weight.size(5)};
}

/// A layer in oneDNN's terms; the `any` descriptions let the kernel choose the order of memory.
struct Layer {
  Desc x, y, weight, weightGradient;  // our tensors
  Desc anyX, anyY, anyWeight, anyWeightGradient;
  Desc bias, biasGradient;  // empty without a bias
  Dims strides, before, after;
  dnnl::primitive_attr attributes = userScratch();
};

constexpr auto algorithm = dnnl::algorithm::convolution_direct;

/// Whether a kernel must not be used with the activations' own order. Excluded are the reference implementation, which
/// is slower by orders of magnitude, and kernels that oneDNN 3.2 computes wrongly on AVX2. Those are weight gradients
/// of a strided 1x1 over NHWC images whose channels are not whole blocks (convolution_test.cpp: fewChannelsStrided).
bool isUnfit(std::string_view kernel, const Layer& l) {
  const bool strided = l.strides != Dims{1, 1}, inBlocks = l.x.get_dims()[1] % blockChannels() == 0;
  return kernel.starts_with("ref") || (kernel.starts_with("jit_1x1") && strided && !inBlocks);
}

/// The description made by make(layer). If its kernel is unfit, one with activations in the order that oneDNN prefers.
template <class Make>
auto described(const Layer& layer, const Make& make) {
  auto desc = make(layer);
  if (!isUnfit(desc.impl_info_str(), layer)) return desc;
  Layer free = layer;
  free.anyX = Desc(layer.x.get_dims(), layer.x.get_data_type(), Tag::any);
  free.anyY = Desc(layer.y.get_dims(), layer.y.get_data_type(), Tag::any);
  return make(free);
}

/// The three passes. Each has a kernel and the reorders into the layouts that the kernel asks for.
struct Forward {
  using Primitive = dnnl::convolution_forward;
  Primitive::primitive_desc desc;
  Reorder x, weight, y;
  Pass<Primitive> pass;

  explicit Forward(const Layer& layer)
      // forward_training makes the description a valid hint for both backward passes.
      : desc(described(layer, describe)),
        x(layer.x, desc.src_desc()),
        weight(layer.weight, desc.weights_desc()),
        y(desc.dst_desc(), layer.y),
        pass(desc) {}

  static Primitive::primitive_desc describe(const Layer& l) {
    return {engine(),    dnnl::prop_kind::forward_training,
            algorithm,   l.anyX,
            l.anyWeight, l.bias,
            l.anyY,      l.strides,
            l.before,    l.after,
            l.attributes};
  }
};

struct BackwardInput {
  using Primitive = dnnl::convolution_backward_data;
  Primitive::primitive_desc desc;
  Reorder dy, weight, dx;
  Pass<Primitive> pass;

  BackwardInput(const Layer& layer, const Forward& hint)
      : desc(described(layer,
                       [&](const Layer& l) -> Primitive::primitive_desc {
                         return {engine(),  algorithm, l.anyX,  l.anyWeight, l.anyY,
                                 l.strides, l.before,  l.after, hint.desc,   l.attributes};
                       })),
        dy(layer.y, desc.diff_dst_desc()),
        weight(layer.weight, desc.weights_desc()),
        dx(desc.diff_src_desc(), layer.x),
        pass(desc) {}
};

struct BackwardParameters {
  using Primitive = dnnl::convolution_backward_weights;
  Primitive::primitive_desc desc;
  Reorder x, dy, gradient;
  Pass<Primitive> pass;

  BackwardParameters(const Layer& layer, const Forward& hint)
      : desc(described(layer,
                       [&](const Layer& l) -> Primitive::primitive_desc {
                         return {engine(),  algorithm, l.anyX,  l.anyWeightGradient, l.biasGradient, l.anyY,
                                 l.strides, l.before,  l.after, hint.desc,           l.attributes};
                       })),
        x(layer.x, desc.src_desc()),
        dy(layer.y, desc.diff_dst_desc()),
        gradient(desc.diff_weights_desc(), layer.weightGradient),
        pass(desc) {}
};

class OnednnConvolution final : public Convolution {
 public:
  OnednnConvolution(const ConvolutionGeometry& geometry, const ConvolutionParameters& parameters)
      : g_(geometry), p_(parameters), weightDims_(dimsOf(parameters.weight)), stream_(engine()) {}

  void weightsChanged() override { forwardPacked_ = backwardPacked_ = false; }
  at::Tensor forward(const at::Tensor& x) override;
  at::Tensor backwardInput(const at::Tensor& x, const at::Tensor& dy) override;
  void backwardParameters(const at::Tensor& x, const at::Tensor& dy) override;

 private:
  int64_t channels() const { return weightDims_[1] * g_.groups; }
  int64_t outputs() const { return weightDims_[0]; }
  int64_t imagesOf(const at::Tensor& x) const { return x.numel() / (channels() * x.size(2) * x.size(3)); }

  /// Drops the kernels of another shape.
  void prepare(const at::Tensor& x);
  Layer layerFor(const at::Tensor& x) const;
  Desc weightDesc(const at::Tensor& weight, std::optional<Tag> tag) const;
  /// The pass, which is created if there is none yet.
  template <class Made, class... From>
  Made& made(std::optional<Made>& pass, const From&... from) const;

  ConvolutionGeometry g_;
  ConvolutionParameters p_;
  Dims weightDims_;  // [out, in / groups, kH, kW]
  dnnl::stream stream_;
  Layer layer_;
  std::vector<int64_t> preparedFor_;
  std::optional<Forward> forward_;
  std::optional<BackwardInput> backwardInput_;
  std::optional<BackwardParameters> backwardParameters_;
  at::Tensor forwardWeights_, backwardWeights_;  // in the order of these passes, if it differs
  bool forwardPacked_ = false, backwardPacked_ = false;
};

// oneDNN has grouped weights as 5-D [groups, out / groups, in / groups, kH, kW]; our memory has that order already.
Desc OnednnConvolution::weightDesc(const at::Tensor& weight, std::optional<Tag> tag) const {
  if (isInBlocks(weight)) {
    return {weightDims_, typeOf(weight), tag.value_or(weight.size(1) == 16 ? Tag::OIhw16i16o : Tag::OIhw8i8o)};
  }
  Dims dims = weightDims_, strides = weight.strides().vec();
  if (g_.groups > 1) {
    dims[0] /= g_.groups;
    dims.insert(dims.begin(), g_.groups);
    strides.insert(strides.begin(), strides[0] * dims[1]);
  }
  return tag ? Desc(dims, typeOf(weight), *tag) : Desc(dims, typeOf(weight), strides);
}

Layer OnednnConvolution::layerFor(const at::Tensor& x) const {
  const Tag blocks = blockChannels() == 16 ? Tag::nChw16c : Tag::nChw8c;
  const at::Tensor& w = p_.weight;
  const Dims inputs{imagesOf(x), channels(), x.size(2), x.size(3)};
  const Dims results{inputs[0], outputs(), (inputs[2] + g_.top + g_.bottom - weightDims_[2]) / g_.strideH + 1,
                     (inputs[3] + g_.left + g_.right - weightDims_[3]) / g_.strideW + 1};
  const bool blockedInput = isBlocked(x, channels());
  Layer l;
  l.x = Desc(inputs, typeOf(x), blockedInput ? blocks : Tag::nhwc);
  // If the two sides differ (few input channels), the kernels for a blocked result have an input layout of their own.
  l.anyX = blockedInput == g_.blockedOutput ? l.x : Desc(inputs, typeOf(x), Tag::any);
  l.y = l.anyY = Desc(results, typeOf(x), g_.blockedOutput ? blocks : Tag::nhwc);
  l.weight = weightDesc(w, std::nullopt);
  l.anyWeight = weightDesc(w, Tag::any);
  l.weightGradient = weightDesc(p_.weightGradient, std::nullopt);
  l.anyWeightGradient = weightDesc(p_.weightGradient, Tag::any);
  if (p_.bias.defined()) {
    l.bias = Desc({outputs()}, typeOf(p_.bias), Tag::x);
    l.biasGradient = Desc({outputs()}, typeOf(p_.biasGradient), Tag::x);
  }
  l.strides = {g_.strideH, g_.strideW};
  l.before = {g_.top, g_.left};
  l.after = {g_.bottom, g_.right};
  return l;
}

// Created at first use: evaluation never needs the backward passes, and each creation generates code.
template <class Made, class... From>
Made& OnednnConvolution::made(std::optional<Made>& pass, const From&... from) const {
  try {
    return pass ? *pass : pass.emplace(from...);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    throw InternalError(concat(convolutionLibrary(), " has no convolution for weights ",
                               c10::str(at::IntArrayRef(weightDims_)), " and input ", c10::str(preparedFor_), ": ",
                               error.what()));
  }
}

// A new shape means new kernels, which may ask for another order of weights.
void OnednnConvolution::prepare(const at::Tensor& x) {
  if (x.sizes() == preparedFor_) return;
  layer_ = layerFor(x);
  preparedFor_ = x.sizes().vec();
  forward_.reset();
  backwardInput_.reset();
  backwardParameters_.reset();
  forwardWeights_.reset();
  backwardWeights_.reset();
  weightsChanged();
}

at::Tensor OnednnConvolution::forward(const at::Tensor& x) {
  prepare(x);
  const Forward& f = made(forward_, layer_);
  at::Tensor reordered, unordered, y = emptyActivations(layer_.y.get_dims(), g_.blockedOutput, x.options());
  const bool current = std::exchange(forwardPacked_, true);
  const dnnl::memory result = f.y.target(y, unordered);
  Arguments arguments{{DNNL_ARG_SRC, f.x.read(stream_, x, reordered, false)},
                      {DNNL_ARG_WEIGHTS, f.weight.read(stream_, p_.weight, forwardWeights_, current)},
                      {DNNL_ARG_DST, result}};
  if (p_.bias.defined()) arguments.emplace(DNNL_ARG_BIAS, memoryOf(layer_.bias, p_.bias));
  f.pass.run(stream_, std::move(arguments));
  f.y.write(stream_, result, y);
  return y;
}

at::Tensor OnednnConvolution::backwardInput(const at::Tensor& x, const at::Tensor& dy) {
  prepare(x);
  const BackwardInput& b = made(backwardInput_, layer_, made(forward_, layer_));
  at::Tensor dx = at::empty_like(x), reordered, unordered;
  const bool current = std::exchange(backwardPacked_, true);
  const dnnl::memory result = b.dx.target(dx, unordered);
  b.pass.run(stream_, {{DNNL_ARG_DIFF_DST, b.dy.read(stream_, dy, reordered, false)},
                       {DNNL_ARG_WEIGHTS, b.weight.read(stream_, p_.weight, backwardWeights_, current)},
                       {DNNL_ARG_DIFF_SRC, result}});
  b.dx.write(stream_, result, dx);
  return dx;
}

void OnednnConvolution::backwardParameters(const at::Tensor& x, const at::Tensor& dy) {
  prepare(x);
  const BackwardParameters& b = made(backwardParameters_, layer_, made(forward_, layer_));
  at::Tensor reordered, reorderedGradient, packed;
  const dnnl::memory result = b.gradient.target(p_.weightGradient, packed);
  Arguments arguments{{DNNL_ARG_SRC, b.x.read(stream_, x, reordered, false)},
                      {DNNL_ARG_DIFF_DST, b.dy.read(stream_, dy, reorderedGradient, false)},
                      {DNNL_ARG_DIFF_WEIGHTS, result}};
  if (p_.bias.defined()) arguments.emplace(DNNL_ARG_DIFF_BIAS, memoryOf(layer_.biasGradient, p_.biasGradient));
  b.pass.run(stream_, std::move(arguments));
  b.gradient.write(stream_, result, p_.weightGradient);
}

// Found by trying: a small layer runs once in each pass. oneDNN throws if it does not support one.
bool computesInBf16() {
  const auto images = at::ones({1, 16, 4, 4}, at::kBFloat16).contiguous(at::MemoryFormat::ChannelsLast);
  const auto weight = at::ones({16, 16, 3, 3}, at::kBFloat16).contiguous(at::MemoryFormat::ChannelsLast);
  OnednnConvolution convolution({1, 1, 1, 1, 1, 1, 1}, {weight, {}, at::empty_like(weight), {}});
  try {
    const at::Tensor y = convolution.forward(images);
    convolution.backwardInput(images, y);
    convolution.backwardParameters(images, y);
  } catch (const InternalError&) {
    return false;
  }
  return true;
}

}  // namespace

bool onednn::takesBf16() {
  static const bool takes = computesInBf16();
  return takes;
}

std::unique_ptr<Convolution> makeDirectConvolution(const ConvolutionGeometry& geometry,
                                                   const ConvolutionParameters& parameters) {
  const at::Tensor& weight = parameters.weight;
  if (!convolutionsTake(weight.scalar_type()) || !weight.is_cpu()) return nullptr;
  if (!isInBlocks(weight) && !weight.is_contiguous(at::MemoryFormat::ChannelsLast)) return nullptr;
  if (weight.scalar_type() == at::kBFloat16 && !onednn::takesBf16()) {
    return makeWidenedConvolution(geometry, parameters, makeDirectConvolution);
  }
  return std::make_unique<OnednnConvolution>(geometry, parameters);
}

bool convolutionsWidenBf16() { return !onednn::takesBf16(); }

std::string convolutionLibrary() {
  const auto* const version = dnnl_version();
  return concat("oneDNN ", version->major, '.', version->minor, '.', version->patch);
}

}  // namespace tandem

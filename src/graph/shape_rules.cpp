#include "graph/shape_rules.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace tandem::shape_rules {
namespace {

template <class... Parts>
void require(bool holds, const Parts&... parts) {
  if (!holds) throw UsageError(tandem::concat(parts...));
}

void requireStride(const Attributes& a) {
  require(a.strideH >= 1 && a.strideW >= 1, "stride ", a.strideH, "x", a.strideW, " must be at least 1");
}

void requireWindow(const Attributes& a, const ImageShape& in) {
  const Padding& pad = a.padding;
  require(a.kernelH >= 1 && a.kernelW >= 1, "kernel ", a.kernelH, "x", a.kernelW, " must be at least 1");
  require(std::min({pad.top, pad.bottom, pad.left, pad.right}) >= 0, "padding (top ", pad.top, ", bottom ", pad.bottom,
          ", left ", pad.left, ", right ", pad.right, ") must not be negative");
  requireStride(a);
  const int64_t height = in.height + pad.top + pad.bottom, width = in.width + pad.left + pad.right;
  require(a.kernelH <= height && a.kernelW <= width, "kernel ", a.kernelH, "x", a.kernelW,
          " must fit into the padded input ", height, "x", width, "; use larger images");
}

struct Extent {
  int64_t size, before, after, kernel, stride;
};

int64_t windowsDown(const Extent& e) { return (e.size + e.before + e.after - e.kernel) / e.stride + 1; }

int64_t windowsUp(const Extent& e) {
  const int64_t count = (e.size + e.before + e.after - e.kernel + e.stride - 1) / e.stride + 1;
  return (count - 1) * e.stride >= e.size + e.before ? count - 1 : count;
}

Extent rows(const Attributes& a, const ImageShape& in) {
  return {in.height, a.padding.top, a.padding.bottom, a.kernelH, a.strideH};
}

Extent columns(const Attributes& a, const ImageShape& in) {
  return {in.width, a.padding.left, a.padding.right, a.kernelW, a.strideW};
}

}  // namespace

ImageShape same(const Attributes&, Shapes inputs) { return inputs[0]; }

ImageShape add(const Attributes&, Shapes inputs) {
  for (const ImageShape& other : inputs.subspan(1)) {
    require(other == inputs[0], "inputs ", shapeText(inputs[0]), " and ", shapeText(other), " must have one shape");
  }
  return inputs[0];
}

ImageShape concat(const Attributes&, Shapes inputs) {
  ImageShape joined = inputs[0];
  for (const ImageShape& other : inputs.subspan(1)) {
    require(other.height == joined.height && other.width == joined.width, "inputs ", shapeText(inputs[0]), " and ",
            shapeText(other), " must have one height and width");
    joined.channels += other.channels;
  }
  return joined;
}

ImageShape multiply(const Attributes&, Shapes inputs) {
  require(inputs[1] == ImageShape{inputs[0].channels, 1, 1}, "the second input ", shapeText(inputs[1]),
          " must have one number for each channel of ", shapeText(inputs[0]));
  return inputs[0];
}

ImageShape conv(const Attributes& a, Shapes inputs) {
  const ImageShape& in = inputs[0];
  require(a.outputs >= 1, "outputs ", a.outputs, " must be at least 1");
  require(a.groups >= 1 && in.channels % a.groups == 0 && a.outputs % a.groups == 0, "groups ", a.groups,
          " must divide the input channels ", in.channels, " and the outputs ", a.outputs);
  requireWindow(a, in);
  require(a.gain >= 0, "gain ", a.gain, " must not be negative");
  const int64_t whitened = 2 * in.channels * a.kernelH * a.kernelW;
  require(!a.whitening || (a.groups == 1 && a.outputs == whitened), "whitening makes ", whitened,
          " outputs, two for each number of a window, in one group; not ", a.outputs, " in ", a.groups);
  return {a.outputs, windowsDown(rows(a, in)), windowsDown(columns(a, in))};
}

ImageShape dilatedConv(const Attributes& a, Shapes inputs) {
  constexpr int64_t mostApart = 1 << 15;
  require(a.dilationH >= 1 && a.dilationW >= 1 && std::max(a.dilationH, a.dilationW) <= mostApart, "dilation ",
          a.dilationH, "x", a.dilationW, " must be from 1 to ", mostApart);
  require(a.kernelH >= 1 && a.kernelW >= 1, "kernel ", a.kernelH, "x", a.kernelW, " must be at least 1");
  Attributes reach = a;
  reach.kernelH = (a.kernelH - 1) * a.dilationH + 1;
  reach.kernelW = (a.kernelW - 1) * a.dilationW + 1;
  return conv(reach, inputs);
}

ImageShape channelLinear(const Attributes& a, Shapes inputs) {
  require(a.outputs >= 1, "outputs ", a.outputs, " must be at least 1");
  return {a.outputs, inputs[0].height, inputs[0].width};
}

ImageShape linear(const Attributes& a, Shapes inputs) {
  require(a.outputs >= 1, "outputs ", a.outputs, " must be at least 1");
  require(inputs[0].height == 1 && inputs[0].width == 1, "input ", shapeText(inputs[0]),
          " must be flat, [C, 1, 1]; put a flatten in front");
  require(a.gain >= 0, "gain ", a.gain, " must not be negative");
  return {a.outputs, 1, 1};
}

ImageShape localResponseNorm(const Attributes& a, Shapes inputs) {
  require(a.radius >= 0, "radius ", a.radius, " must not be negative");
  return inputs[0];
}

ImageShape layerNorm(const Attributes& a, Shapes inputs) {
  require(a.epsilon > 0, "epsilon ", a.epsilon, " must be positive");
  return inputs[0];
}

ImageShape batchNorm(const Attributes& a, Shapes inputs) {
  layerNorm(a, inputs);
  require(a.momentum >= 0 && a.momentum <= 1, "momentum ", a.momentum, " must be in [0, 1]");
  return inputs[0];
}

ImageShape pool(const Attributes& a, Shapes inputs) {
  const ImageShape& in = inputs[0];
  requireWindow(a, in);
  require(a.padding.symmetric(), "padding (top ", a.padding.top, ", bottom ", a.padding.bottom, ", left ",
          a.padding.left, ", right ", a.padding.right, ") must be symmetric");
  require(2 * a.padding.top <= a.kernelH && 2 * a.padding.left <= a.kernelW, "padding ", a.padding.top, "x",
          a.padding.left, " must be at most half the kernel ", a.kernelH, "x", a.kernelW);
  const auto windows = a.ceilMode ? windowsUp : windowsDown;
  return {in.channels, windows(rows(a, in)), windows(columns(a, in))};
}

ImageShape adaptivePool(const Attributes& a, Shapes inputs) {
  require(a.poolH >= 1 && a.poolW >= 1, "output size ", a.poolH, "x", a.poolW, " must be at least 1");
  return {inputs[0].channels, a.poolH, a.poolW};
}

ImageShape globalPool(const Attributes&, Shapes inputs) { return {inputs[0].channels, 1, 1}; }

ImageShape subsample(const Attributes& a, Shapes inputs) {
  requireStride(a);
  const ImageShape& in = inputs[0];
  return {in.channels, (in.height - 1) / a.strideH + 1, (in.width - 1) / a.strideW + 1};
}

ImageShape pad(const Attributes& a, Shapes inputs) {
  const ImageShape& in = inputs[0];
  const Padding& p = a.padding;
  const ImageShape out{in.channels, in.height + p.top + p.bottom, in.width + p.left + p.right};
  require(std::min({in.height + p.top, in.height + p.bottom, out.height}) >= 1 &&
              std::min({in.width + p.left, in.width + p.right, out.width}) >= 1,
          "padding (top ", p.top, ", bottom ", p.bottom, ", left ", p.left, ", right ", p.right, ") leaves nothing of ",
          shapeText(in));
  return out;
}

ImageShape padChannels(const Attributes& a, Shapes inputs) {
  require(a.outputs >= inputs[0].channels, "outputs ", a.outputs, " must not be less than the input's ",
          inputs[0].channels, " channels");
  return {a.outputs, inputs[0].height, inputs[0].width};
}

ImageShape firstChannels(const Attributes& a, Shapes inputs) {
  const ImageShape& in = inputs[0];
  require(a.outputs >= 1 && a.outputs <= in.channels, "outputs ", a.outputs, " must be from 1 to the input's ",
          in.channels, " channels");
  return {a.outputs, in.height, in.width};
}

ImageShape channelRange(const Attributes& a, Shapes inputs) {
  const ImageShape& in = inputs[0];
  require(a.first >= 0 && a.outputs >= 1 && a.first < in.channels && a.outputs <= in.channels - a.first,
          "channels from ", a.first, ", ", a.outputs, " of them, must be among the input's ", in.channels);
  return {a.outputs, in.height, in.width};
}

ImageShape channelShuffle(const Attributes& a, Shapes inputs) {
  require(a.groups >= 1 && inputs[0].channels % a.groups == 0, "groups ", a.groups, " must divide the input channels ",
          inputs[0].channels);
  return inputs[0];
}

ImageShape flatten(const Attributes&, Shapes inputs) { return {inputs[0].count(), 1, 1}; }

ImageShape dropout(const Attributes& a, Shapes inputs) {
  require(a.probability >= 0 && a.probability < 1, "probability ", a.probability, " must be in [0, 1)");
  return inputs[0];
}

ImageShape classToken(const Attributes&, Shapes inputs) {
  return {inputs[0].channels, 1 + inputs[0].height * inputs[0].width, 1};
}

ImageShape tokens(const Attributes&, Shapes inputs) {
  require(inputs[0].width == 1, "input ", shapeText(inputs[0]), " must be tokens, [C, L, 1]");
  return inputs[0];
}

ImageShape attention(const Attributes& a, Shapes inputs) {
  require(a.heads >= 1 && inputs[0].channels % a.heads == 0, "heads ", a.heads, " must divide the channels ",
          inputs[0].channels);
  return tokens(a, inputs);
}

ImageShape firstToken(const Attributes& a, Shapes inputs) { return {tokens(a, inputs).channels, 1, 1}; }

ImageShape boxValues(const Attributes& a, Shapes inputs) {
  const ImageShape& in = inputs[0];
  require(a.outputs >= 1 && in.channels % a.outputs == 0, "outputs ", a.outputs, " must divide the input's ",
          in.channels, " channels");
  return {a.outputs, in.channels / a.outputs * in.height * in.width, 1};
}

ImageShape joinTokens(const Attributes& a, Shapes inputs) {
  ImageShape joined = tokens(a, inputs);
  for (const ImageShape& other : inputs.subspan(1)) {
    require(other.channels == joined.channels && other.width == 1, "inputs ", shapeText(inputs[0]), " and ",
            shapeText(other), " must be tokens with one number of channels");
    joined.height += other.height;
  }
  return joined;
}

}  // namespace tandem::shape_rules

#include "models/onnx/gelu.h"

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "models/onnx/arithmetic.h"
#include "models/onnx/layer_norm.h"

namespace tandem::onnx {
namespace {

constexpr std::string_view cubePart = "a cube", cubicPart = "a sum of a tensor and its cube";
constexpr double ofCube = 0.044715;

/// `x` with another node, a part that is made of `input`.
View partOf(const Call& call, View x, std::string_view part, int input) {
  x.node = call.in.graph.addPart(part, input);
  x.factor = 1, x.offset = 0;
  return x;
}

}  // namespace

void gelu(Call& call) {
  const std::string form = call.text("approximate", "none");
  if (form != "none" && form != "tanh") throw UsageError("approximate must be none or tanh");
  View made = call.in.whole(call.view(0));
  made.node = call.add({.operation = form == "none" ? "gelu" : "gelu_tanh", .inputs = {made.node}});
  call.give(std::move(made));
}

void erf(Call& call) {
  View view = call.view(0);
  if (!near(view.factor, std::numbers::sqrt2 / 2) || view.offset != 0) throw UsageError("it is read in GELU alone");
  view.factor = 1;
  view = call.in.whole(view);
  call.give(partOf(call, view, erfOfGelu, view.node));
}

void cubed(Call& call) {
  const View x = call.in.whole(call.view(0));
  call.give(partOf(call, x, cubePart, x.node));
}

std::optional<View> cubeOf(const Call& call, const View& x, const View& square) {
  if (!isPlain(square) || !isMadeOf(call.in, square, squarePart, x)) return std::nullopt;
  return partOf(call, x, cubePart, x.node);
}

std::optional<View> cubicOf(const Call& call, const View& x, const View& cube) {
  if (!near(cube.factor, ofCube) || cube.offset != 0 || !isMadeOf(call.in, cube, cubePart, x)) return std::nullopt;
  return partOf(call, x, cubicPart, x.node);
}

std::optional<View> tanhOf(const Call& call, const View& argument) {
  if (operationOf(call.in, argument.node) != cubicPart) return std::nullopt;
  if (!near(argument.factor, std::sqrt(2 / std::numbers::pi)) || argument.offset != 0) return std::nullopt;
  return partOf(call, argument, tanhOfGelu, call.in.graph.at(argument.node).inputs.front());
}

}  // namespace tandem::onnx

#include "models/onnx/layer_norm.h"

#include "base/error.h"
#include "base/text.h"

namespace tandem::onnx {
namespace {

constexpr std::string_view meanPart = "a mean over channels", centredPart = "a difference from the mean over channels",
                           deviationPart = "a square root";

[[noreturn]] void refuse(std::string_view operation) {
  throw UsageError(concat(operation, " is read in layer norm alone"));
}

int inputOf(const Importer& in, int node) { return in.graph.at(node).inputs.front(); }

/// The dimensions of a mean over the last one.
Dims withoutChannels(Dims dims) {
  if (!dims.empty()) dims.back().clear();
  return dims;
}

bool isCentred(const Importer& in, const View& view) { return operationOf(in, view.node) == centredPart; }

}  // namespace

void channelMean(Call& call, const View& given) {
  if (call.whole("keepdims", 1) == 0) throw UsageError("a mean over channels that are left away");
  call.give(View{.node = call.in.graph.addPart(meanPart, given.node), .dims = withoutChannels(given.dims)});
}

void centred(Call& call) {
  const View x = call.in.whole(call.view(0)), &mean = call.view(1);
  const bool fits = operationOf(call.in, mean.node) == meanPart && inputOf(call.in, mean.node) == x.node &&
                    isPlain(mean) && mean.dims == withoutChannels(x.dims);
  if (!fits) refuse("a difference of two tensors");
  View made = x;
  made.node = call.in.graph.addPart(centredPart, x.node);
  call.give(std::move(made));
}

void squared(Call& call) {
  View made = call.view(0);
  if (!isPlain(made)) throw UsageError("a square of a tensor with a factor");
  made.node = call.in.graph.addPart(squarePart, made.node);
  call.give(std::move(made));
}

void deviation(Call& call) {
  View made = call.view(0);
  const bool fits = operationOf(call.in, made.node) == meanPart && made.factor == 1 && made.offset >= 0 &&
                    operationOf(call.in, inputOf(call.in, made.node)) == squarePart;
  if (!fits) refuse("a square root");
  const double epsilon = shortest(static_cast<float>(made.offset));
  made.node = call.in.graph.addPart(deviationPart, made.node);
  made.offset = 0;
  call.in.graph.at(made.node).attributes.epsilon = epsilon;
  call.give(std::move(made));
}

void layerNormOfParts(Call& call) {
  const View &difference = call.view(0), &divisor = call.view(1);
  Importer& in = call.in;
  const bool isPair = isCentred(in, difference) && operationOf(in, divisor.node) == deviationPart &&
                      isPlain(difference) && isPlain(divisor) && divisor.dims == withoutChannels(difference.dims);
  // divisor: square root of a mean of a square of the difference
  if (!isPair || inputOf(in, inputOf(in, inputOf(in, divisor.node))) != difference.node) {
    refuse("a quotient of two tensors");
  }
  const int64_t channels = in.shapeOf(difference).channels;
  Attributes a;
  a.epsilon = in.graph.at(divisor.node).attributes.epsilon;
  View made = difference;
  made.node =
      call.add({.operation = "layer_norm",
                .inputs = {inputOf(in, difference.node)},
                .attributes = a,
                .weights = {standIn(in.memory, ".weight", channels, 1), standIn(in.memory, ".bias", channels, 0)}});
  call.give(std::move(made));
}

}  // namespace tandem::onnx

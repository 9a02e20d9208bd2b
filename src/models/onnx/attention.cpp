#include "models/onnx/attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "formats/io/little_endian.h"
#include "graph/operation.h"

namespace tandem::onnx {
namespace {

constexpr double tolerance = 1e-3;  // of the scale, which exporters round to fp32 several times

[[noreturn]] void refuse(std::string_view why) {
  throw UsageError(concat("a product of two tensors that is no attention: ", why));
}

/// The dimensions in front of the last two, as one list of atoms.
Dim leading(const View& view) {
  Dim atoms;
  for (size_t d = 0; d + 2 < view.dims.size(); ++d) {
    atoms.insert(atoms.end(), view.dims[d].begin(), view.dims[d].end());
  }
  return joined(atoms);
}

const Dim& fromEnd(const View& view, size_t back) { return view.dims[view.dims.size() - back]; }

/// Where queries, keys or values come from: channels of a linear layer.
struct Source {
  int node;
  int64_t first;
};

/// Atoms of heads; the images' atom, if there is one, stands in front.
struct Heads {
  int64_t count = 1, channels = 0;
};

/// The heads by the dimensions [..., L, C / heads], the last two swapped for keys.
Heads headsOf(const View& view, const ImageShape& shape, bool isKey) {
  const Dim& channels = fromEnd(view, isKey ? 2 : 1);
  const Dim& tokens = fromEnd(view, isKey ? 1 : 2);
  if (channels.size() != 1 || channels.front().axis != Axis::channel || channels.front().stride != 1) {
    refuse("the channels of a head are not the last dimension");
  }
  if (shape.width != 1 || !isWhole(tokens, Axis::row, shape.height)) {
    refuse("the tokens are not the dimension before, or are pixels without a token in front");
  }
  Heads heads{1, channels.front().extent};
  for (const Atom& atom : leading(view)) {
    if (atom.axis == Axis::image) continue;
    if (atom.axis != Axis::channel || atom.stride != heads.channels || heads.count != 1) {
      refuse("the dimensions in front are not images and heads");
    }
    heads.count = atom.extent;
  }
  return heads;
}

FileTensor weightOf(const ImportedNode& node, std::string_view suffix) {
  const auto found = std::ranges::find(node.weights, suffix, &ImportedWeight::suffix);
  return found == node.weights.end() ? FileTensor() : found->tensor;
}

/// The rows of several tensors of one type, one below the other. A bias that is missing is zeros.
FileTensor stacked(ConstantMemory& memory, std::span<const FileTensor> parts, std::vector<int64_t> shape) {
  const auto known = std::ranges::find_if(parts, [](const FileTensor& part) { return part.type != nullptr; });
  FileTensor whole;
  whole.type = known == parts.end() ? elementTypeNamed("F32") : known->type;
  whole.shape = std::move(shape);
  memory.requireRoom(whole.byteCount());
  const size_t each = whole.byteCount() / parts.size();
  std::vector<uint8_t> bytes, scratch;
  for (const FileTensor& part : parts) {
    if (part.type == nullptr) {
      bytes.resize(bytes.size() + each);
      continue;
    }
    if (part.type != whole.type || part.byteCount() != each) refuse("its weights are of several types or sizes");
    const auto rows = rowMajorBytes(part, scratch);
    bytes.insert(bytes.end(), rows.begin(), rows.end());
  }
  whole.bytes = memory.keep(std::move(bytes));
  return whole;
}

const ImportedNode& linearAt(const Importer& in, int node) {
  const ImportedNode& linear = in.graph.at(node);
  if (linear.operation != nullptr && linear.operation->name == "channel_linear") return linear;
  refuse("queries, keys and values are not made by linear layers");
}

/// The weights of the joined layer, by one layer of 3 C outputs or by three of C.
std::vector<ImportedWeight> joinedWeights(Importer& in, const std::array<Source, 3>& sources, int64_t channels) {
  const ImportedNode& first = linearAt(in, sources[0].node);
  const bool isOne = sources[1].node == sources[0].node && sources[2].node == sources[0].node;
  std::array<FileTensor, 3> weights, biases;
  for (size_t i = 0; i < sources.size(); ++i) {
    const ImportedNode& layer = linearAt(in, sources.at(i).node);
    const int64_t outputs = isOne ? 3 * channels : channels;
    const int64_t begin = isOne ? static_cast<int64_t>(i) * channels : 0;
    if (layer.attributes.outputs != outputs || sources.at(i).first != begin || layer.inputs != first.inputs) {
      refuse("queries, keys and values are not the thirds of one layer, or three layers of one input");
    }
    weights.at(i) = weightOf(layer, ".weight"), biases.at(i) = weightOf(layer, ".bias");
  }
  const bool hasBias = first.attributes.bias;
  if (isOne) {
    FileTensor bias = hasBias ? biases[0] : stacked(in.memory, biases, {3 * channels});
    return {{".in_proj_weight", weights[0]}, {".in_proj_bias", std::move(bias)}};
  }
  return {{".in_proj_weight", stacked(in.memory, weights, {3 * channels, channels})},
          {".in_proj_bias", stacked(in.memory, biases, {3 * channels})}};
}

void scores(Call& call) {
  const View query = call.view(0), key = call.view(1);
  if (query.dims.size() < 3 || key.dims.size() < 3) refuse("there are fewer than three dimensions");
  call.give(Scores{query, key, query.factor * key.factor});
}

}  // namespace

void attention(Call& call) {
  if (call.isView(0) && call.isView(1)) return scores(call);
  if (!call.has(0) || !std::holds_alternative<Scores>(call.item(0))) refuse("its first factor is constant");
  const Scores given = std::get<Scores>(call.item(0));
  const View value = call.view(1);
  if (value.dims.size() < 3) refuse("its values have fewer than three dimensions");
  Importer& in = call.in;
  if (!given.isSoftmax) refuse("there is no softmax between its two products");
  const ImageShape shape = in.shapeOf(value);
  const Heads heads = headsOf(given.query, in.shapeOf(given.query), false);
  const Heads ofKey = headsOf(given.key, in.shapeOf(given.key), true), ofValue = headsOf(value, shape, false);
  const bool same = heads.count == ofKey.count && heads.count == ofValue.count && heads.channels == ofKey.channels &&
                    heads.channels == ofValue.channels && leading(given.query) == leading(given.key) &&
                    leading(given.query) == leading(value);
  if (!same) refuse("queries, keys and values have different heads");
  const double expected = 1 / std::sqrt(static_cast<double>(heads.channels));
  if (std::abs(given.factor / expected - 1) > tolerance || value.factor != 1) {
    refuse(concat("its scale is ", given.factor, "; it must be 1 / sqrt(", heads.channels, ")"));
  }
  if (given.query.offset != 0 || given.key.offset != 0 || value.offset != 0) refuse("a number is added to its inputs");
  const int64_t channels = heads.count * heads.channels;
  const std::array<Source, 3> sources{Source{given.query.node, given.query.firstChannel},
                                      Source{given.key.node, given.key.firstChannel},
                                      Source{value.node, value.firstChannel}};
  auto weights = joinedWeights(in, sources, channels);
  const ImportedNode layer = linearAt(in, sources[0].node);
  Attributes a;
  a.heads = heads.count;
  View made = value;
  made.node = in.graph.add({.operation = "attention",
                            .inputs = layer.inputs,
                            .attributes = a,
                            .names = layer.names,
                            .weights = std::move(weights)});
  if (in.shapeOf(made).channels != channels) refuse("its heads do not cover the channels");
  made.firstChannel = 0;
  call.give(std::move(made));
}

}  // namespace tandem::onnx

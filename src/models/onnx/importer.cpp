#include "models/onnx/importer.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "graph/operation.h"

namespace tandem::onnx {
namespace {

constexpr int64_t imageSizeIfFree = 224, imagesIfFree = 2;

std::string originOf(const OnnxNode& node) {
  const std::string& name = !node.name.empty() || node.outputs.empty() ? node.name : node.outputs.front();
  return concat("node '", escaped(name), "' (", escaped(node.operation), ", byte ", node.offset, ")");
}

const Operator* operatorNamed(std::string_view name) {
  for (const auto rows :
       {layerOperators(), elementOperators(), shapeOperators(), partOperators(), arithmeticOperators()}) {
    const auto found = std::ranges::find(rows, name, &Operator::name);
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

std::vector<std::string> operatorNames() {
  std::vector<std::string> names;
  for (const auto rows :
       {layerOperators(), elementOperators(), shapeOperators(), partOperators(), arithmeticOperators()}) {
    for (const Operator& row : rows) names.emplace_back(row.name);
  }
  std::ranges::sort(names);
  return names;
}

void checkAttributes(const OnnxNode& node, const Operator& row) {
  const std::vector<std::string> known = split(row.attributes, " ");
  for (const OnnxAttribute& attribute : node.attributes) {
    if (std::ranges::find(known, attribute.name) == known.end() || attribute.isOther) {
      throw UsageError(concat("attribute '", escaped(attribute.name), "' is not read"));
    }
  }
}

size_t rankOf(const Item& item) {
  if (const auto* const constant = std::get_if<Constant>(&item)) return constant->tensor.shape.size();
  const auto* const view = std::get_if<View>(&item);
  return view == nullptr ? 0 : view->dims.size();
}

/// Each node whose elements an item shows is read more than once.
void share(ImportedGraph& graph, const Item& item) {
  if (const auto* const view = std::get_if<View>(&item)) graph.at(view->node).isShared = true;
  if (const auto* const sequence = std::get_if<Sequence>(&item)) {
    for (const Item& part : sequence->parts) share(graph, part);
  }
}

void handle(Importer& importer, const OnnxNode& node) {
  if (!node.domain.empty() && node.domain != "ai.onnx") {
    throw UsageError(concat("the operator is of domain '", escaped(node.domain), "'; those of ONNX itself are read"));
  }
  const Operator* const row = operatorNamed(node.operation);
  if (row == nullptr) throw UsageError(concat("the operator is not read; there are ", join(operatorNames())));
  checkAttributes(node, *row);
  Call call(importer, node);
  bool onlyConstants = true;
  for (size_t i = 0; i < node.inputs.size(); ++i) onlyConstants = onlyConstants && (!call.has(i) || call.isConstant(i));
  const auto how = onlyConstants ? row->fold : row->handle;
  if (how == nullptr) {
    throw UsageError(onlyConstants ? "it is not computed of constants" : "it is read where its inputs are constants");
  }
  how(call);
}

}  // namespace

Importer::Importer(const OnnxModel& model, ConstantMemory& memory, int64_t imageSize)
    : graph(ImageShape{1, 1, 1}), memory(memory), model_(model), imageSize_(imageSize) {}

void Importer::define(const std::string& name, Item item) {
  if (name.empty()) return;
  if (const size_t rank = rankOf(item); rank > FileTensor::maxRank) {
    throw UsageError(
        concat("value '", escaped(name), "' has ", rank, " dimensions; at most ", FileTensor::maxRank, " are read"));
  }
  if (auto* const constant = std::get_if<Constant>(&item)) constant->tensor.name = name;
  if (readersOf(name) > 1) share(graph, item);
  if (!items_.emplace(name, std::move(item)).second) {
    throw UsageError(concat("value '", escaped(name), "' is made twice"));
  }
}

const Item& Importer::itemOf(const std::string& name) const {
  const auto found = items_.find(name);
  if (found != items_.end()) return found->second;
  throw UsageError(concat("value '", escaped(name), "' is read before it is made, or nowhere made"));
}

std::string Importer::sourceOf(const FileTensor& constant) const {
  const auto shows = [&](const FileTensor& source) {
    return source.bytes.data() == constant.bytes.data() && source.bytes.size() == constant.bytes.size();
  };
  const auto found = std::ranges::find_if(model_.initializers, shows);
  return found == model_.initializers.end() ? constant.name : found->name;
}

int64_t Importer::readersOf(const std::string& name) const {
  const auto found = readers_.find(name);
  return found == readers_.end() ? 0 : found->second;
}

void Importer::readConstants() {
  for (const FileTensor& tensor : model_.initializers) define(tensor.name, Constant{tensor});
}

void Importer::readInput() {
  std::vector<const OnnxValueInfo*> images;
  for (const OnnxValueInfo& input : model_.inputs) {
    if (!items_.contains(input.name)) images.push_back(&input);
  }
  if (images.size() != 1) {
    throw UsageError(concat("the graph has ", images.size(), " inputs without values; it must have one, the images"));
  }
  const OnnxValueInfo& input = *images.front();
  if (input.type == nullptr || !input.type->floating()) {
    throw UsageError(concat("input '", escaped(input.name), "' has no floating-point type"));
  }
  if (!input.shape || input.shape->size() != 4) {
    throw UsageError(concat("input '", escaped(input.name), "' must have four dimensions, [N, C, H, W]"));
  }
  std::vector<int64_t> sizes = *input.shape;
  const bool isFree = sizes[2] <= 0 || sizes[3] <= 0;
  if (isFree) {
    notes.push_back(
        concat("the model takes images of any size; ", imageSizeIfFree, " is taken unless --image-size is given"));
  }
  const bool isAsked = imageSize_ > 0 && sizes[2] <= 0 && sizes[3] <= 0;
  const int64_t side = isAsked ? imageSize_ : imageSizeIfFree;
  const std::array free{imagesIfFree, int64_t{3}, side, side};
  for (size_t d = 0; d < free.size(); ++d) {
    if (sizes[d] <= 0) sizes[d] = free[d];
    if (sizes[d] > 1 << 15) {
      throw UsageError(
          concat("input '", escaped(input.name), "' has a dimension of ", sizes[d], "; the limit is 32768"));
    }
  }
  const ImageShape shape{sizes[1], sizes[2], sizes[3]};
  graph = ImportedGraph(shape);
  define(input.name, View{.node = 0, .dims = imageDims(sizes[0], shape)});
}

void Importer::run() {
  readConstants();
  readInput();
  for (const OnnxNode& node : model_.nodes) {
    const Operator* const row = operatorNamed(node.operation);
    if (row != nullptr && row->readsShape) continue;
    for (const std::string& name : node.inputs) ++readers_[name];
  }
  for (const OnnxValueInfo& output : model_.outputs) ++readers_[output.name];
  for (const OnnxNode& node : model_.nodes) {
    graph.setOrigin(originOf(node));
    try {
      handle(*this, node);
    } catch (const UsageError& broken) {
      throw UsageError(concat(originOf(node), ": ", broken.what()));
    }
  }
}

int Importer::output() {
  if (model_.outputs.empty()) throw UsageError("the graph has no output");
  const std::string& name = model_.outputs.front().name;
  for (size_t i = 1; i < model_.outputs.size(); ++i) {
    notes.push_back(
        concat("output '", escaped(model_.outputs[i].name), "' is left away; the first one is the network's"));
  }
  const auto* const view = std::get_if<View>(&itemOf(name));
  if (view == nullptr) throw UsageError(concat("output '", escaped(name), "' does not depend on the images"));
  int node = whole(*view).node;
  constexpr std::array shows{std::string_view("Softmax"), std::string_view("LogSoftmax"), std::string_view("sigmoid")};
  const ImportedNode& last = graph.at(node);
  const std::string_view what = last.operation == nullptr ? std::string_view(last.part) : last.operation->name;
  if (std::ranges::find(shows, what) != shows.end()) {
    notes.push_back(concat(last.origin, " at the end is left away: the loss and the scores have it"));
    node = last.inputs.front();
  }
  const ImageShape& shape = graph.at(node).shape;
  if (shape.count() != shape.channels) {
    throw UsageError(
        concat("output '", escaped(name), "' of shape ", shapeText(shape), " per image is no list of classes"));
  }
  return node;
}

int Importer::once(std::string_view operation, int input, const Attributes& a) {
  const auto [place, isNew] = made_.try_emplace({operation, input, a.outputs, a.first, a.groups, a.alpha}, -1);
  if (isNew) place->second = graph.add({.operation = operation, .inputs = {input}, .attributes = a});
  return place->second;
}

View Importer::whole(const View& view) {
  View result = view;
  const int64_t channels = shapeOf(view).channels;
  const Dim atoms = atomsOf(view.dims, Axis::channel);
  const bool isAll = view.firstChannel == 0 && atoms == wholeAxis(Axis::channel, channels);
  const int64_t extent = extentOf(atoms);
  const auto replace = [&](const std::vector<std::pair<Atom, Atom>>& pairs) {
    for (Dim& dim : result.dims) {
      for (Atom& atom : dim) {
        for (const auto& [from, to] : pairs) {
          if (atom == from) {
            atom = to;
            break;
          }
        }
      }
      dim = joined(dim);
    }
  };
  if (!isAll && atoms.size() <= 1 && (atoms.empty() || atoms.front().stride == 1)) {
    result.node = once("channel_range", view.node, {.outputs = extent, .first = view.firstChannel});
    result.firstChannel = 0;
  } else if (!isAll) {
    const bool isShuffle = atoms.size() == 2 && atoms[0].stride == 1 && atoms[1].stride == atoms[0].extent &&
                           extent == channels && view.firstChannel == 0;
    if (!isShuffle) throw UsageError("its channels are in an order that is no shuffle of groups");
    const int64_t groups = atoms[1].extent;
    result.node = once("channel_shuffle", view.node, {.groups = groups});
    replace({{atoms[0], {Axis::channel, atoms[0].extent, groups}}, {atoms[1], {Axis::channel, groups, 1}}});
  }
  if (result.offset != 0)
    throw UsageError(concat("a number, ", result.offset, ", is added; there is no operation for that"));
  if (result.factor != 1) {
    result.node = once("rescale", result.node, {.alpha = result.factor});
    result.factor = 1;
  }
  return result;
}

int Importer::image(const View& view) {
  const View given = whole(view);
  const ImageShape& shape = shapeOf(given);
  const Dims& dims = given.dims;
  const bool fits = dims.size() == 4 && isOnly(dims[0], Axis::image) &&
                    isWhole(dims[1], Axis::channel, shape.channels) && isWhole(dims[2], Axis::row, shape.height) &&
                    isWhole(dims[3], Axis::column, shape.width);
  if (!fits) throw UsageError("its input is not [N, C, H, W]");
  return given.node;
}

const Item& Call::item(size_t input) const {
  if (!has(input)) throw UsageError(concat("input ", input, " (from 0) is missing"));
  return in.itemOf(node_.inputs[input]);
}

const View& Call::view(size_t input) const {
  const auto* const found = std::get_if<View>(&item(input));
  if (found == nullptr) throw UsageError(concat("input ", input, " (from 0) must depend on the images"));
  return *found;
}

const Constant& Call::constant(size_t input) const {
  const auto* const found = std::get_if<Constant>(&item(input));
  if (found == nullptr) throw UsageError(concat("input ", input, " (from 0) must be constant"));
  return *found;
}

std::vector<int64_t> Call::wholesOr(size_t input, std::vector<int64_t> otherwise) const {
  return has(input) ? wholesOf(in.memory, constant(input)) : std::move(otherwise);
}

const OnnxAttribute* Call::attribute(std::string_view name) const {
  const auto found = std::ranges::find(node_.attributes, name, &OnnxAttribute::name);
  return found == node_.attributes.end() ? nullptr : &*found;
}

int64_t Call::whole(std::string_view name, int64_t otherwise) const {
  const OnnxAttribute* const found = attribute(name);
  return found == nullptr ? otherwise : found->whole.value_or(otherwise);
}

double Call::number(std::string_view name, double otherwise) const {
  const OnnxAttribute* const found = attribute(name);
  return found == nullptr || !found->number ? otherwise : shortest(*found->number);
}

std::string Call::text(std::string_view name, std::string otherwise) const {
  const OnnxAttribute* const found = attribute(name);
  return found == nullptr || !found->text ? std::move(otherwise) : *found->text;
}

std::vector<int64_t> Call::wholes(std::string_view name, std::vector<int64_t> otherwise) const {
  const OnnxAttribute* const found = attribute(name);
  return found == nullptr || found->wholes.empty() ? std::move(otherwise) : found->wholes;
}

void Call::give(Item item, size_t output) {
  if (output < node_.outputs.size()) in.define(node_.outputs[output], std::move(item));
}

std::string Call::moduleOf(std::string_view constant) const {
  if (in.readersOf(std::string(constant)) > 1) return "";  // equal tensors are one in some exporters' files
  for (const std::string_view ending : {".weight", ".bias", ".in_proj_weight", ".in_proj_bias"}) {
    if (constant.ends_with(ending)) return std::string(constant.substr(0, constant.size() - ending.size()));
  }
  return "";
}

std::string Call::modulePath(bool withFunction) const {
  std::vector<std::string> parts;
  if (!node_.scope.empty()) {  // ['', 'layer1', 'layer1.0', 'layer1.0.conv1', 'conv2d']: whole paths
    const std::string& text = node_.scope;
    for (size_t begin = text.find('\''); begin != text.npos;) {
      const size_t end = std::min(text.find('\'', begin + 1), text.size());
      parts.push_back(text.substr(begin + 1, end - begin - 1));
      begin = end == text.size() ? text.npos : text.find('\'', end + 1);
    }
    if (parts.size() < 2) return "";
    const std::string &module = parts[parts.size() - 2], &function = parts.back();
    return withFunction && !module.empty() ? concat(module, '.', function) : withFunction ? function : module;
  }
  if (!node_.name.starts_with('/')) return withFunction ? node_.name : "";
  std::string path, before;
  parts = split(node_.name.substr(1), "/");  // /layer1/layer1.0/conv1/Conv: each is a name, or continues the one before
  if (!withFunction) parts.pop_back();
  for (const std::string& part : parts) {
    const bool continues = !before.empty() && part.starts_with(before + '.');
    path += continues ? part.substr(before.size()) : concat(path.empty() ? "" : ".", part);
    before = part;
  }
  return path;
}

int Call::add(NewNode node, std::string_view weight, std::string_view bias) {
  const bool isPlain = weight.empty() && bias.empty();
  for (std::string name : {moduleOf(weight), moduleOf(bias), modulePath(isPlain), node_.name}) {
    if (!name.empty()) node.names.push_back(std::move(name));
  }
  return in.graph.add(std::move(node));
}

double shortest(float value) {
  std::array<char, 64> text{};
  const auto* const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  double number = value;
  std::from_chars(text.data(), end, number);
  return number;
}

ImportedWeight standIn(ConstantMemory& memory, std::string suffix, int64_t count, double value) {
  const std::vector<double> values(static_cast<size_t>(count), value);
  return {std::move(suffix), constantOf(memory, *elementTypeNamed("F32"), {count}, values).tensor, true};
}

std::string_view operationOf(const Importer& in, int node) {
  const ImportedNode& made = in.graph.at(node);
  return made.operation == nullptr ? std::string_view(made.part) : made.operation->name;
}

bool isPlain(const View& view) { return view.factor == 1 && view.offset == 0; }

bool isMadeOf(const Importer& in, const View& made, std::string_view operation, const View& x) {
  return operationOf(in, made.node) == operation && in.graph.at(made.node).inputs.front() == x.node && isPlain(x) &&
         made.dims == x.dims && made.firstChannel == x.firstChannel;
}

std::vector<int64_t> shapeOfItem(const Item& item) {
  if (const auto* const constant = std::get_if<Constant>(&item)) return constant->tensor.shape;
  if (const auto* const view = std::get_if<View>(&item)) return tandem::onnx::shapeOf(view->dims);
  if (std::holds_alternative<Sequence>(item)) throw UsageError("a sequence of tensors has no shape");
  throw UsageError("the shape of weights of attention is not computed");
}

Item scaled(Item item, double factor, double offset) {
  if (auto* const view = std::get_if<View>(&item)) {
    view->factor *= factor;
    view->offset = view->offset * factor + offset;
  } else if (auto* const scores = std::get_if<Scores>(&item); scores != nullptr && offset == 0 && !scores->isSoftmax) {
    scores->factor *= factor;
  } else {
    throw UsageError("a number is added to, or multiplied with, the weights of attention");
  }
  return item;
}

}  // namespace tandem::onnx

#include "train/checkpoint/weight_loader.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/catalog.h"
#include "base/text.h"
#include "base/utf8.h"
#include "config/network_path.h"
#include "formats/weights/safetensors.h"
#include "formats/weights/weights_file.h"
#include "graph/state.h"
#include "models/names/weights_map.h"
#include "models/onnx/onnx_network.h"
#include "train/checkpoint/foreign_weights.h"
#include "train/checkpoint/torch_tensors.h"

namespace tandem {
namespace {

constexpr size_t mostNamed = 10;
constexpr std::string_view wrapper = "module.";

std::string textOf(const std::vector<int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const int64_t size : shape) sizes.push_back(std::to_string(size));
  return concat('[', join(sizes), ']');
}

std::string listed(const std::vector<std::string>& texts) {
  const bool all = texts.size() <= mostNamed;
  const std::vector<std::string> first(texts.begin(), all ? texts.end() : texts.begin() + mostNamed);
  return join(first, "; ") + (all ? "" : concat("; and ", texts.size() - mostNamed, " more"));
}

at::ScalarType floatingType(const FileTensor& tensor, const std::string& path) {
  const auto type = scalarTypeOf(*tensor.type);
  if (type && tensor.type->floating()) return *type;
  throw CheckpointError(concat(path, ": tensor '", escaped(tensor.name), "' is of type ", tensor.type->name,
                               "; weights must be F16, BF16, F32 or F64"));
}

/// The file of --weights, else the model that brings its own.
WeightsFile openedWeights(const Config& config, const WeightsMap& map) {
  const Config::Network& network = config.network;
  if (network.weights.empty()) return openOnnxWeights(network.model);
  return WeightsFile::open(network.weights, {.slashes = map.slashes ? Slashes::inside : Slashes::refused});
}

/// Reads one file for one network. It collects all problems before it throws, so that the error lists them together.
class PretrainedReader {
 public:
  PretrainedReader(const Config& config, const Graph& graph)
      : config_(config),
        map_(find(weightsMaps(), config.network.weightsMap, "--weights-map")),
        foreign_(map_.of(config.network.model, graph)),
        file_(openedWeights(config, map_)),
        own_(stateTensors(graph)),
        auxiliary_(auxiliaryOnly(graph)) {
    const auto isBehind = [](const auto& tensor) { return tensor.name.starts_with(wrapper); };
    isWrapped_ = std::ranges::all_of(file_.tensors(), isBehind) && !std::ranges::all_of(foreign_.tensors, isBehind);
    for (const FileTensor& tensor : file_.tensors()) takeIn(tensor);
    for (const NodeId head : headNodes(graph)) heads_.insert(head);
    const auto inFile = [&](size_t i) { return byName_.contains(foreign_.tensors[i].name); };
    for (size_t i = 0; i < own_.size(); ++i) {
      if (auxiliary_[static_cast<size_t>(own_[i].node)] && inFile(i)) hasAuxiliary_ = true;
    }
  }

  Pretrained read() {
    for (size_t i = 0; i < own_.size(); ++i) readOne(own_[i], foreign_.tensors[i]);
    refuseProblems();
    describe();
    return std::move(result_);
  }

 private:
  /// The name without the prefix of DataParallel and without the output number (":0") that Keras' HDF5 files append.
  std::string plainName(const std::string& name) const {
    const std::string plain = isWrapped_ ? name.substr(wrapper.size()) : name;
    const bool numbered = map_.slashes && plain.ends_with(":0");
    return renamed(numbered ? plain.substr(0, plain.size() - 2) : plain, map_.older);
  }

  void takeIn(const FileTensor& tensor) {
    const auto [place, isNew] = byName_.emplace(plainName(tensor.name), &tensor);
    if (isNew) return;
    throw CheckpointError(concat(file_.path(), ": '", escaped(tensor.name), "' and '", escaped(place->second->name),
                                 "' are both '", escaped(place->first), "' by --weights-map=", map_.name));
  }

  const FileTensor* fileTensor(const std::string& name) {
    const auto found = byName_.find(name);
    if (found == byName_.end()) return nullptr;
    used_.insert(name);
    return found->second;
  }

  void readOne(const StateTensor& own, const ForeignTensor& foreign) {
    const FileTensor* tensor = fileTensor(foreign.name);
    const bool isHead = heads_.contains(own.node);
    if (isHead && config_.network.resetHead) return reset_.push_back(own.name);
    if (tensor == nullptr) {
      if (auxiliary_[static_cast<size_t>(own.node)] && !hasAuxiliary_) return untouched_.push_back(own.name);
      if (foreign.ifMissing) return keep(own, at::full(own.shape, *foreign.ifMissing));
      return problems_.push_back(concat("'", foreign.name, "' ", textOf(foreign.shape), " is missing"));
    }
    if (tensor->shape != foreign.shape) {
      const std::string hint = isHead && !tensor->shape.empty()
                                   ? ": another number of classes? give --classes, or --reset-head in bench"
                                   : "";
      return problems_.push_back(concat("'", foreign.name, "' is ", textOf(tensor->shape), " in the file and ",
                                        textOf(foreign.shape), " in the network", hint));
    }
    keep(own, converted(own, foreign, *tensor));
  }

  at::Tensor asFloat(const FileTensor& tensor) {
    const at::ScalarType type = floatingType(tensor, file_.path());
    const auto bytes = rowMajorBytes(tensor, scratch_);
    at::Tensor copy = at::empty(tensor.shape, type);
    std::copy(bytes.begin(), bytes.end(), static_cast<uint8_t*>(copy.mutable_data_ptr()));
    copy = copy.to(at::kFloat);
    const auto bad = copy.numel() - at::isfinite(copy).sum().item<int64_t>();
    if (bad > 0) noteNonFinite(tensor, bad);
    return copy;
  }

  void noteNonFinite(const FileTensor& tensor, int64_t bad) {
    const std::string text = concat(file_.path(), ": tensor '", escaped(tensor.name), "' has ", bad, " of ",
                                    tensor.elements(), " values that are not finite in fp32");
    if (config_.network.rejectNonfinite) throw CheckpointError(concat(text, ", refused by --reject-nonfinite"));
    result_.warnings.push_back(text);
  }

  at::Tensor converted(const StateTensor& own, const ForeignTensor& foreign, const FileTensor& tensor) {
    at::Tensor values = inOwnOrder(foreign, asFloat(tensor), own.shape);
    if (const FileTensor* less = fileTensor(foreign.subtracted); less != nullptr) {
      if (less->shape != own.shape) {
        problems_.push_back(
            concat("'", foreign.subtracted, "' is ", textOf(less->shape), " in the file, not ", textOf(own.shape)));
        return values;
      }
      values = values - asFloat(*less);
    }
    return foreign.added == 0 ? values : values + foreign.added;
  }

  void keep(const StateTensor& own, at::Tensor values) {
    const bool isParameter = own.kind == StateTensor::Kind::parameter;
    (isParameter ? result_.parameters : result_.statistics).emplace_back(own.name, std::move(values));
  }

  /// Tensors of the file that the network does not have.
  std::vector<std::string> unknown() const {
    std::vector<std::string> texts;
    for (const auto& [name, tensor] : byName_) {
      const bool leftOver = !map_.leftOver.empty() && name.ends_with(map_.leftOver);
      if (!leftOver && !used_.contains(name)) texts.push_back(concat("'", escaped(name), "' ", textOf(tensor->shape)));
    }
    return texts;
  }

  void refuseProblems() const {
    const std::vector<std::string> besides = unknown();
    if (problems_.empty() && besides.empty()) return;
    const std::string fault =
        concat(file_.path(), ": does not fit ", config_.network.model, " by --weights-map=", map_.name);
    const std::string more = besides.empty() ? "" : concat("the file has besides: ", listed(besides));
    const std::string_view gap = problems_.empty() || besides.empty() ? "" : "; ";
    throw CheckpointError(concat(fault, ": ", listed(problems_), gap, more,
                                 "; choose the --model and --weights-map that the file is of"));
  }

  void describe() {
    auto& notes = result_.notes;
    result_.fileNote = file_.note();
    result_.leftOver = static_cast<int64_t>(byName_.size() - used_.size());
    notes.push_back(concat("weights ", file_.path(), " (", file_.format(), ", sha256 ", file_.sha256(), ", map ",
                           map_.name, "): ", result_.parameters.size() + result_.statistics.size(), " tensors"));
    if (!file_.note().empty()) notes.push_back(concat("weights: ", file_.note()));
    if (!reset_.empty()) notes.push_back(concat("weights: the classifier keeps initial values in ", listed(reset_)));
    if (!untouched_.empty()) {
      notes.push_back(concat("weights: auxiliary heads are not in the file and keep initial values, ",
                             untouched_.size(), " tensors"));
    }
    if (!foreign_.difference.empty()) {
      result_.warnings.push_back(
          concat("weights of ", map_.name, " for ", config_.network.model, ": ", foreign_.difference));
    }
  }

  const Config& config_;
  const WeightsMap& map_;
  ForeignState foreign_;
  WeightsFile file_;
  std::vector<StateTensor> own_;
  std::map<std::string, const FileTensor*> byName_;
  std::set<std::string> used_;
  std::set<NodeId> heads_;
  std::vector<bool> auxiliary_;  // per node: it belongs to an auxiliary head only
  bool hasAuxiliary_ = false;    // the file has a tensor of an auxiliary head
  bool isWrapped_ = false;       // all names of the file start with `wrapper`, not all of the network
  std::vector<uint8_t> scratch_;
  std::vector<std::string> problems_, reset_, untouched_;
  Pretrained result_;
};

}  // namespace

std::shared_ptr<const Pretrained> readPretrained(const Config& config, const Graph& graph) {
  if (config.network.weights.empty() && !isOnnxPath(config.network.model)) return nullptr;
  const at::NoGradGuard noGradients;
  return std::make_shared<const Pretrained>(PretrainedReader(config, graph).read());
}

void setParameters(const Pretrained& pretrained, FlatBuffers& buffers) {
  const at::NoGradGuard noGradients;
  for (const auto& [name, values] : pretrained.parameters) {
    const int index = buffers.indexOf(name);
    if (index < 0) continue;
    at::Tensor master = buffers.masterView(index);
    master.copy_(values.view(master.sizes()));
  }
  buffers.refreshWeights();
}

void setStatistics(const Pretrained& pretrained, const Executor& executor) {
  const at::NoGradGuard noGradients;
  const std::map<std::string, at::Tensor> values(pretrained.statistics.begin(), pretrained.statistics.end());
  for (auto& [name, tensor] : executor.statistics()) {
    const auto found = values.find(name);
    if (found != values.end()) tensor.copy_(found->second);
  }
}

std::vector<std::pair<std::string, at::Tensor>> weightsOf(const Graph& graph, const FlatBuffers& buffers,
                                                          const Executor& executor) {
  const at::NoGradGuard noGradients;
  std::map<std::string, at::Tensor> values;
  const auto onHost = [](const at::Tensor& tensor) { return at::empty(tensor.sizes(), at::kFloat).copy_(tensor); };
  for (const auto& [name, tensor] : executor.statistics()) values[name] = onHost(tensor);
  for (const Parameter& parameter : graph.parameters()) {
    const at::Tensor master = buffers.masterView(buffers.indexOf(parameter.name));
    values[parameter.name] = onHost(master.reshape(parameter.shape));
  }
  std::vector<std::pair<std::string, at::Tensor>> weights;
  for (const StateTensor& own : stateTensors(graph)) weights.emplace_back(own.name, values.at(own.name));
  return weights;
}

void appendWeights(AtomicFile& file, const Graph& graph, const FlatBuffers& buffers, const Executor& executor) {
  const auto weights = weightsOf(graph, buffers, executor);
  std::vector<FileTensor> tensors;
  for (const auto& [name, value] : weights) {
    if (!value.isfinite().all().item<bool>()) {
      throw NumericError(concat("the weights are not finite after the last step, first in '", name,
                                "'; lower --lr, or use --precision=fp32"));
    }
    tensors.push_back(fileTensorOf(name, value));
  }
  appendSafetensors(file, std::move(tensors), {{"format", "pt"}});
}

}  // namespace tandem

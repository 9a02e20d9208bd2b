#include "train/checkpoint/weight_loader.h"

#include <gtest/gtest.h>

#include "base/catalog.h"
#include "base/error.h"
#include "executor/golden_comparison.h"
#include "formats/weights/safetensors.h"
#include "formats/weights/weights_file.h"
#include "graph/state.h"
#include "models/names/weights_map.h"
#include "run/run_point.h"

namespace tandem {
namespace {

using Tensors = std::map<std::string, at::Tensor>;

/// What formula.h says of a network, by the names of the network.
Tensors formulaState(const Graph& graph) {
  Tensors tensors;
  for (const StateTensor& own : stateTensors(graph)) {
    const bool isBatchNorm = graph.node(own.node).operation->name == "batch_norm";
    tensors[own.name] = formulaTensor(own.name, own.shape, isBatchNorm);
  }
  return tensors;
}

const char* typeName(at::ScalarType type) {
  const std::map<at::ScalarType, const char*> names{
      {at::kFloat, "F32"}, {at::kDouble, "F64"}, {at::kHalf, "F16"}, {at::kBFloat16, "BF16"}, {at::kLong, "I64"}};
  return names.at(type);
}

std::string written(const Tensors& tensors) {
  std::string path = concat(testing::TempDir(), "/tandem_pretrained_", getpid(), ".safetensors");
  std::vector<FileTensor> out;
  for (const auto& [name, tensor] : tensors) {
    FileTensor entry;
    entry.name = name;
    entry.type = elementTypeNamed(typeName(tensor.scalar_type()));
    entry.shape = tensor.sizes().vec();
    entry.bytes = {static_cast<const uint8_t*>(tensor.const_data_ptr()), tensor.nbytes()};
    out.push_back(std::move(entry));
  }
  writeSafetensors(path, std::move(out), {});
  return path;
}

Config configOf(const std::string& model, const std::string& weights) {
  Config config;
  config.network.model = model;
  config.network.weights = weights;
  return config;
}

Graph small(int64_t classes = 10) { return buildModel("resnet20", {.classes = classes}); }

std::string refusal(const Config& config, const Graph& graph) {
  try {
    readPretrained(config, graph);
  } catch (const CheckpointError& error) {
    return error.what();
  }
  return "accepted";
}

void expectRefused(const Tensors& tensors, const std::string& part, const Graph& graph = small()) {
  const std::string text = refusal(configOf("resnet20", written(tensors)), graph);
  EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

bool hasText(const std::vector<std::string>& texts, const std::string& part) {
  return std::ranges::any_of(texts, [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

/// A network whose values come from a file alone.
class Loaded {
 public:
  Loaded(const Graph& graph, const Pretrained& pretrained, const std::string& executor, const LayoutEntry& layout)
      : options_{.kernels = {.layout = layout}},
        buffers_(buffersFor(graph, find(precisions(), "fp32", "precision"), options_)),
        executor_(find(executors(), executor, "executor").make(options_)) {
    setParameters(pretrained, buffers_);
    executor_->bind(graph, buffers_);
    setStatistics(pretrained, *executor_);
    executor_->setTraining(false);
    executor_->setGradients(false);
  }

  at::Tensor logits(const at::Tensor& images) {
    Batch batch;
    batch.images = images.contiguous(options_.kernels.layout.format);
    return executor_->forward(batch)[0].clone();
  }
  const Executor& executor() const { return *executor_; }
  const FlatBuffers& buffers() const { return buffers_; }

 private:
  ExecutorOptions options_;
  FlatBuffers buffers_;
  std::unique_ptr<Executor> executor_;
};

class PretrainedModel : public testing::TestWithParam<std::string> {};

TEST_P(PretrainedModel, GivesTheGoldenLogits) {
  const auto golden = goldenOf(GetParam());
  const int64_t size = golden.at("imageSize"), rows = golden.at("batch");
  const Graph graph = buildModel(GetParam(), {.classes = golden.at("classes"), .imageSize = size});
  const auto pretrained = readPretrained(configOf(GetParam(), written(formulaState(graph))), graph);
  const auto& numbers = golden.at("eval");
  const at::Tensor images = formulaTensor(numbers.at("input").get<std::string>(), {rows, 3, size, size});
  for (const ExecutorEntry& executor : executors()) {
    for (const LayoutEntry& layout : layouts()) {
      if (!serves(executor, layout, at::kCPU)) continue;
      Loaded loaded(graph, *pretrained, std::string(executor.name), layout);
      EXPECT_LE(golden::relativeDistance(loaded.logits(images), numbers.at("logits")), golden::tolerance)
          << executor.name << ' ' << layout.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Some, PretrainedModel,
                         testing::Values("resnet18", "densenet121", "inception_v3", "mobilenet_v2", "convnext_tiny",
                                         "vit_b_16"),
                         [](const auto& row) { return row.param; });

TEST(Pretrained, ConvertsOtherTypes) {
  const Graph graph = small();
  const Tensors state = formulaState(graph);
  for (const at::ScalarType type : {at::kDouble, at::kHalf, at::kBFloat16}) {
    Tensors converted;
    for (const auto& [name, tensor] : state) converted[name] = tensor.to(type);
    converted["bn1.num_batches_tracked"] = at::zeros({}, at::kLong);
    const auto pretrained = readPretrained(configOf("resnet20", written(converted)), graph);
    EXPECT_EQ(pretrained->parameters.size() + pretrained->statistics.size(), state.size());
    for (const auto& [name, values] : pretrained->parameters) {
      EXPECT_TRUE(at::equal(values, state.at(name).to(type).to(at::kFloat))) << name;
    }
  }
  Tensors whole = state;
  whole["fc.bias"] = at::zeros({10}, at::kLong);
  expectRefused(whole, "tensor 'fc.bias' is of type I64; weights must be F16, BF16, F32 or F64");
}

TEST(Pretrained, RefusesWhatDoesNotFit) {
  const Tensors state = formulaState(small());
  Tensors changed = state;
  changed.erase("bn1.running_var");
  expectRefused(changed, "does not fit resnet20 by --weights-map=none: 'bn1.running_var' [16] is missing");
  changed = state;
  changed["extra.weight"] = at::zeros({2, 3});
  expectRefused(changed, "the file has besides: 'extra.weight' [2, 3]; choose the --model");
  changed = state;
  changed["conv1.weight"] = at::zeros({16, 3, 5, 5});
  expectRefused(changed, "'conv1.weight' is [16, 3, 5, 5] in the file and [16, 3, 3, 3] in the network");
  expectRefused(state, "'fc.weight' is [10, 64] in the file and [14, 64] in the network: another number of classes?",
                small(14));
  Tensors renamed;
  for (const auto& [name, tensor] : state) renamed["model." + name] = tensor;
  expectRefused(renamed, "'conv1.weight' [16, 3, 3, 3] is missing; ");
  expectRefused(renamed, "and 87 more; the file has besides: 'model.bn1.bias' [16]; ");
}

TEST(Pretrained, LeavesOutWhatDataParallelPutsInFront) {
  const Graph graph = small();
  Tensors wrapped;
  for (const auto& [name, tensor] : formulaState(graph)) wrapped["module." + name] = tensor;
  EXPECT_EQ(refusal(configOf("resnet20", written(wrapped)), graph), "accepted");
  wrapped["fc.bias"] = wrapped.at("module.fc.bias");
  expectRefused(wrapped, "'conv1.weight' [16, 3, 3, 3] is missing");
}

TEST(Pretrained, KeepsThatPrefixOfANetworksOwnNames) {
  Graph graph({3, 4, 4});
  const NodeId flat = graph.add("flatten", "flat", {graph.input()}, {});
  graph.add("linear", "module.fc", {flat}, {.outputs = 10});
  EXPECT_EQ(refusal(configOf("resnet20", written(formulaState(graph))), graph), "accepted");
}

TEST(Pretrained, NamesValuesThatAreNotFinite) {
  const Graph graph = small();
  Tensors state = formulaState(graph);
  state["fc.bias"] = at::full({10}, 1e300, at::kDouble);  // finite in the file, not in fp32
  state["bn1.weight"][3] = NAN;
  Config config = configOf("resnet20", written(state));
  const auto pretrained = readPretrained(config, graph);
  EXPECT_TRUE(hasText(pretrained->warnings, "tensor 'fc.bias' has 10 of 10 values that are not finite in fp32"));
  EXPECT_TRUE(hasText(pretrained->warnings, "tensor 'bn1.weight' has 1 of 16 values that are not finite"));
  config.network.rejectNonfinite = true;
  EXPECT_NE(refusal(config, graph).find("refused by --reject-nonfinite"), std::string::npos);
}

TEST(Pretrained, ResetsTheHeadWhereAsked) {
  const Graph graph = small(14);
  Config config = configOf("resnet20", written(formulaState(small())));
  config.network.resetHead = true;
  const auto pretrained = readPretrained(config, graph);
  EXPECT_TRUE(hasText(pretrained->notes, "the classifier keeps initial values in fc.weight; fc.bias"));
  for (const auto& [name, values] : pretrained->parameters) EXPECT_FALSE(name.starts_with("fc.")) << name;
  Tensors headless = formulaState(graph);
  headless.erase("fc.weight");
  headless.erase("fc.bias");
  config.network.weights = written(headless);
  EXPECT_EQ(refusal(config, graph), "accepted");
  config.network.resetHead = false;
  EXPECT_NE(refusal(config, graph).find("'fc.weight' [14, 64] is missing"), std::string::npos);
}

TEST(Pretrained, AuxiliaryHeadsMayBeMissingAllTogether) {
  const Graph graph = buildModel("inception_v3", {.classes = 10});
  Tensors state = formulaState(graph);
  std::erase_if(state, [](const auto& entry) {
    return entry.first.starts_with("AuxLogits.") && entry.first != "AuxLogits.fc.bias";
  });
  EXPECT_NE(refusal(configOf("inception_v3", written(state)), graph).find("'AuxLogits.conv0.conv.weight'"),
            std::string::npos);
  state.erase("AuxLogits.fc.bias");
  const auto pretrained = readPretrained(configOf("inception_v3", written(state)), graph);
  EXPECT_TRUE(hasText(pretrained->notes, "auxiliary heads are not in the file and keep initial values, 12 tensors"));
}

/// The same function by Keras' conventions: biases in front of batch-norm, other axes, a larger epsilon.
TEST(Pretrained, KerasComputesTheSame) {
  const Graph graph = buildModel("resnet50_v1", {.classes = 10, .imageSize = 33});
  const Tensors state = formulaState(graph);
  const auto keras = find(weightsMaps(), "keras", "map").of("resnet50_v1", graph);
  const auto own = stateTensors(graph);
  Tensors theirs;
  for (size_t i = 0; i < own.size(); ++i) {
    const ForeignTensor& foreign = keras.tensors[i];
    at::Tensor values = state.at(own[i].name).to(at::kDouble);
    if (values.dim() == 4) values = values.permute({2, 3, 1, 0});
    if (values.dim() == 2) values = values.t();
    if (!foreign.subtracted.empty()) {
      theirs[foreign.subtracted] = formulaTensor(foreign.subtracted, own[i].shape);
      values = values + theirs[foreign.subtracted];
    }
    theirs[foreign.name] = (values - foreign.added).contiguous();
  }
  Config config = configOf("resnet50_v1", written(theirs));
  config.network.weightsMap = "keras";
  const auto pretrained = readPretrained(config, graph);
  const LayoutEntry& layout = layouts().front();
  Loaded loaded(graph, *pretrained, "planned", layout);
  const auto numbers = goldenOf("resnet50_v1").at("eval");
  const at::Tensor images = formulaTensor(numbers.at("input").get<std::string>(), {4, 3, 33, 33});
  EXPECT_LE(golden::relativeDistance(loaded.logits(images), numbers.at("logits")), golden::tolerance);
  config.network.weightsMap = "none";
  EXPECT_NE(refusal(config, graph).find("a control character or a slash"), std::string::npos);
}

TEST(Pretrained, ReadsTheNamesOfTorchvisionsOlderDenseNets) {
  const Graph graph = buildModel("densenet121", {});
  Tensors older;
  for (const auto& [name, tensor] : formulaState(graph)) {
    std::string text = name;
    const size_t layer = text.find("denselayer");
    const size_t part = layer == std::string::npos ? layer : text.find_last_of("12", text.rfind('.'));
    if (part != std::string::npos) text.insert(part, 1, '.');
    older[text] = tensor;
  }
  ASSERT_TRUE(older.contains("features.denseblock3.denselayer12.norm.2.running_var"));
  ASSERT_FALSE(older.contains("features.denseblock3.denselayer12.norm2.running_var"));
  const auto pretrained = readPretrained(configOf("densenet121", written(older)), graph);
  const Tensors own = formulaState(graph);
  for (const auto& [name, values] : pretrained->parameters) EXPECT_TRUE(at::equal(values, own.at(name))) << name;
  for (const auto& [name, values] : pretrained->statistics) EXPECT_TRUE(at::equal(values, own.at(name))) << name;
  EXPECT_EQ(pretrained->parameters.size() + pretrained->statistics.size(), own.size());
  older["features.denseblock1.denselayer1.conv1.weight"] = at::ones({1});
  const std::string text = refusal(configOf("densenet121", written(older)), graph);
  EXPECT_NE(text.find("are both 'features.denseblock1.denselayer1.conv1.weight'"), std::string::npos) << text;
}

TEST(SavedWeights, AreReadBackBitForBit) {
  const Graph graph = small();
  const auto pretrained = readPretrained(configOf("resnet20", written(formulaState(graph))), graph);
  for (const LayoutEntry& layout : layouts()) {
    if (!serves(find(executors(), "planned", "executor"), layout, at::kCPU)) continue;
    const Loaded loaded(graph, *pretrained, "planned", layout);
    const std::string path = testing::TempDir() + "/tandem_saved.safetensors";
    AtomicFile file(path);
    appendWeights(file, graph, loaded.buffers(), loaded.executor());
    file.commit();
    const auto again = readPretrained(configOf("resnet20", path), graph);
    ASSERT_EQ(again->parameters.size(), pretrained->parameters.size());
    for (size_t i = 0; i < again->parameters.size(); ++i) {
      EXPECT_EQ(again->parameters[i].first, pretrained->parameters[i].first);
      EXPECT_TRUE(at::equal(again->parameters[i].second, pretrained->parameters[i].second)) << layout.name;
    }
    for (size_t i = 0; i < again->statistics.size(); ++i) {
      EXPECT_TRUE(at::equal(again->statistics[i].second, pretrained->statistics[i].second)) << layout.name;
    }
  }
}

Config run() {
  Config config;
  config.network.model = "resnet20";
  config.step.batch = 4;
  config.placement.replicas = 2;
  config.placement.oversubscribe = true;
  config.measurement.warmup = "0";
  config.measurement.steps = 3;
  config.step.learningRate = 0.01;
  config.numerics.deterministic = true;
  return config;
}

std::string fingerprint(const RunRecord& record) {
  for (const std::string& note : record.notes) {
    if (note.starts_with("weights fnv1a64")) return note;
  }
  return record.outcome.reason;
}

TEST(SavedWeights, GoOnWhereTheRunEnded) {
  Config config = run();
  config.output.saveWeights = testing::TempDir() + "/tandem_run.safetensors";
  const RunRecord first = runPoint(resolvePlan(config), nullptr);
  ASSERT_EQ(first.outcome.kind, OutcomeKind::ok) << first.outcome.reason;
  Config frozen = run();
  frozen.network.weights = config.output.saveWeights;
  frozen.step.forwardOnly = true;  // nothing changes the weights that were loaded
  const RunRecord second = runPoint(resolvePlan(frozen), nullptr);
  EXPECT_EQ(fingerprint(second), fingerprint(first));
  EXPECT_NE(fingerprint(runPoint(resolvePlan(run()), nullptr)), "");
  const std::string hash = WeightsFile::open(config.output.saveWeights).sha256();
  EXPECT_TRUE(std::ranges::any_of(second.notes, [&](const std::string& note) {
    return note.find(hash) != std::string::npos && note.find("97 tensors") != std::string::npos;
  })) << second.notes.front();
}

}  // namespace
}  // namespace tandem

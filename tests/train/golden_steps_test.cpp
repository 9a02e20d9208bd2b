// Two whole updates of a replica beside PyTorch's own optimizers.
#include <gtest/gtest.h>

#include <tuple>

#include "base/catalog.h"
#include "executor/model_subject.h"
#include "golden/marks.h"
#include "run/plan/replica_set_options.h"
#include "train/checkpoint/weight_loader.h"
#include "train/replica_set.h"

namespace tandem::golden {
namespace {

/// Batches of the formula's images, by the names of the steps.
class NamedImages final : public BatchSource {
 public:
  NamedImages(const nlohmann::json& golden, std::vector<std::string> names)
      : names_(std::move(names)), images_(golden.at("batch")), size_(golden.at("imageSize")) {
    std::vector<int64_t> labels;
    for (int64_t row = 0; row < images_; ++row) labels.push_back(label(row, golden.at("classes")));
    labels_ = at::tensor(labels, at::kLong);
  }

  bool next(Batch& out) override {
    const std::string& name = names_.at(static_cast<size_t>(next_));
    out.images = formulaTensor(name, {images_, 3, size_, size_}).contiguous(at::MemoryFormat::ChannelsLast);
    out.labels = labels_;
    out.index = next_++;
    return true;
  }

 private:
  std::vector<std::string> names_;
  int64_t images_, size_, next_ = 0;
  at::Tensor labels_;
};

/// The weights and running statistics of the formula.
std::shared_ptr<const Pretrained> formulaState(const Graph& graph) {
  auto state = std::make_shared<Pretrained>();
  for (const Parameter& parameter : graph.parameters()) {
    const OperationTraits& traits = graph.node(parameter.node).operation->traits;
    state->parameters.emplace_back(parameter.name, formulaTensor(parameter.name, parameter.shape, traits.batchNorm));
  }
  return state;
}

using Rule = std::tuple<std::string, std::string>;  // model, optimizer

class GoldenSteps : public testing::TestWithParam<Rule> {
 protected:
  GoldenSteps() : golden_(goldenOf(std::get<0>(GetParam()))), steps_(golden_.at("steps").at(std::get<1>(GetParam()))) {}

  Config config() const {
    const nlohmann::json& options = steps_.at("options");
    Config config;
    config.network.model = std::get<0>(GetParam());
    config.network.imageSize = golden_.at("imageSize");
    config.network.classes = golden_.at("classes");
    config.step.batch = golden_.at("batch");
    config.step.optimizer = std::get<1>(GetParam());
    config.step.learningRate = options.at("lr");
    config.step.weightDecay = options.at("weight_decay");
    if (options.contains("momentum")) config.step.momentum = options.at("momentum");
    return config;
  }

  /// What two updates make of the network: losses, change of each parameter, statistics.
  struct Trained {
    std::vector<double> losses;
    Marks changes;
    std::map<std::string, double> statistics;
  };

  Trained trained(const Config& config) const {
    const Graph graph = buildModel(
        config.network.model, {.classes = config.network.classes, .imageSize = config.network.imageSize, .dropout = 0});
    ReplicaSetOptions options = trainingOptions(resolvePlan(config), KernelSelection{layouts().front()});
    options.graph = &graph;
    options.pretrained = formulaState(graph);
    options.source = [this](int) {
      return std::make_unique<NamedImages>(golden_, steps_.at("inputs").get<std::vector<std::string>>());
    };
    Trained trained;
    ReplicaSet(options).run([&](ReplicaSet::Member& member) {
      for (auto& [name, tensor] : member.executor().statistics())
        tensor.copy_(formulaTensor(name, tensor.sizes().vec()));
      for (size_t step = 0; step < steps_.at("inputs").size(); ++step) member.step();
      member.finish();
      trained.losses = member.losses();
      for (const auto& [name, weight] : options.pretrained->parameters) {
        const at::Tensor now = member.buffers().masterView(member.buffers().indexOf(name)).reshape(weight.sizes());
        trained.changes[name] = markOf(name, now.to(at::kDouble) - weight.to(at::kDouble));
      }
      for (const auto& [name, tensor] : member.executor().statistics())
        trained.statistics[name] = tensor.norm(2, at::kDouble).item<double>();
    });
    return trained;
  }

  Distances distance(const Trained& trained) const {
    return distances(steps_.at("changes").get<Marks>(), trained.changes);
  }

  /// Of changes: what PyTorch loses in fp32, four times, for others round elsewhere.
  Distances allowed() const {
    const Distances single = steps_.at("errors").at("float32").at("changes");
    return {std::max(1e-4, 4 * single.typical), std::max(1e-3, 4 * single.worst)};
  }

  nlohmann::json golden_, steps_;
};

TEST_P(GoldenSteps, AreThoseOfPyTorchsOptimizer) {
  const Trained two = trained(config());
  const auto losses = steps_.at("losses").get<std::vector<double>>();
  ASSERT_EQ(two.losses.size(), losses.size());
  for (size_t step = 0; step < losses.size(); ++step) EXPECT_NEAR(two.losses[step] / losses[step], 1, 1e-4) << step;
  const Distances found = distance(two);
  EXPECT_LE(found.typical, allowed().typical);
  EXPECT_LE(found.worst, allowed().worst) << found.worstName;
  for (const auto& [name, norm] : steps_.at("statistics").get<std::map<std::string, double>>()) {
    EXPECT_NEAR(two.statistics.at(name) / norm, 1, 1e-4) << name;
  }
}

// Each changed by as little as a wrong constant would.
TEST_P(GoldenSteps, TellAnOptimizerWithOneWrongNumber) {
  const Config right = config();
  const std::map<std::string, std::function<void(Config&)>> mistakes{
      {"learning rate", [](Config& config) { config.step.learningRate *= 1.02; }},
      {"weight decay", [](Config& config) { config.step.weightDecay = 0; }},
      {"momentum", [](Config& config) { config.step.momentum = 0.8; }},
      {"beta1", [](Config& config) { config.step.adamBeta1 = 0.8; }},
      {"beta2", [](Config& config) { config.step.adamBeta2 = 0.9; }}};
  for (const auto& [name, make] : mistakes) {
    Config wrong = right;
    make(wrong);
    const OptimizerEntry& rule = find(optimizers(), wrong.step.optimizer, "optimizer");
    if (name == "momentum" ? !rule.usesMomentum : name.starts_with("beta") && !rule.usesBetas) continue;
    const Distances found = distance(trained(wrong));
    EXPECT_TRUE(found.typical > allowed().typical || found.worst > allowed().worst)
        << name << ": " << found.typical << ", " << found.worst;
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, GoldenSteps,
                         testing::Combine(testing::Values("lenet5", "resnet20", "resnet18", "squeezenet1_1"),
                                          testing::Values("sgd", "adam", "adamw")),
                         [](const auto& row) { return std::get<0>(row.param) + '_' + std::get<1>(row.param); });

}  // namespace
}  // namespace tandem::golden

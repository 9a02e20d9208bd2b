#include <gtest/gtest.h>

#include "base/catalog.h"
#include "run/equivalence_cases.h"

namespace tandem::equivalence {
namespace {

/// A loss of [N, classes], which any network can have, and whether all cases are run: in long tests.
struct LossCases {
  TaskLoss loss;
  bool all = false;

  friend std::ostream& operator<<(std::ostream& out, const LossCases& cases) { return out << cases.loss.name; }
};

std::vector<LossCases> lossesWithAHead(bool all) {
  std::vector<LossCases> found;
  for (const TaskLoss& loss : taskLosses()) {
    if (!loss.head.empty()) found.push_back({loss, all});
  }
  return found;
}

Graph twoHeaded(const TaskLoss& loss) {
  Graph net({3, imageSize, imageSize});
  const NodeId shared = net.add("relu", "relu", {net.add("conv", "conv", {net.input()}, conv3x3(8, true))});
  const NodeId pooled = net.add("flatten", "pooled", {net.add("global_avg_pool", "pool", {shared})});
  net.addAuxiliary(net.add("linear", "head", {pooled}, {.outputs = classes}), 0.3);
  net.add("linear", "fc", {net.add("flatten", "flatten", {shared})}, {.outputs = classes});
  net.setLoss(find(taskLosses(), loss.name, "loss"));
  return net;
}

class EquivalenceLoss : public testing::TestWithParam<LossCases> {
 protected:
  const Graph net_ = twoHeaded(GetParam().loss);
};

TEST(Losses, EveryRowOfTheCatalogIsComputed) {
  ASSERT_EQ(losses().size(), taskLosses().size());
  for (size_t i = 0; i < losses().size(); ++i) {
    EXPECT_EQ(losses()[i].task, &taskLosses()[i]);
    EXPECT_NO_THROW(find(labelKinds(), losses()[i].labels, "labels")) << losses()[i].task->name;
  }
}

// Whatever the strategy, the place of the loss and the executor: the weights of one replica on the joined batch.
TEST_P(EquivalenceLoss, EveryStrategyGivesTheWeightsOfTheJoinedBatch) {
  for (const Precision& precision : precisionsOnCpu()) {
    const StrategyEntry* const replicated = &find(strategies(), "replicated", "strategy");
    const Case alone{.graph = &net_, .strategy = replicated, .precision = std::string(precision.name)};
    const Trained expected = train(alone);
    for (size_t i = 0; i < expected.initial.values.size(); ++i) {
      EXPECT_FALSE(expected.initial.values[i].equal(expected.replicas[0].values[i])) << expected.initial.names[i];
    }
    for (const StrategyEntry& strategy : strategies()) {
      if (strategy.exchange != Exchange::synchronous) continue;
      const StrategyCases cases{strategy, GetParam().all};
      for (const Case& c : cases.of(net_)) {
        if (c.precision != precision.name || c.replicas == 3) continue;
        for (const Weights& weights : train(c).replicas) {
          const Difference found = difference(weights, expected.replicas[0], expected.initial);
          EXPECT_TRUE(equal(found, c)) << GetParam().loss.name << ", " << c.name() << ": " << found.where
                                       << " differs by " << found.ofNorm << " of its norm, " << found.ofChange;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, EquivalenceLoss, testing::ValuesIn(lossesWithAHead(/*all=*/false)),
                         [](const auto& info) { return std::string(info.param.loss.name); });
INSTANTIATE_TEST_SUITE_P(LongCatalog, EquivalenceLoss, testing::ValuesIn(lossesWithAHead(/*all=*/true)),
                         [](const auto& info) { return std::string(info.param.loss.name); });

/// The loss of the first step of one replica, and the outputs and labels that it is of.
struct FirstStep {
  std::vector<at::Tensor> outputs;
  at::Tensor labels;
  double loss = 0;
};

FirstStep firstStep(const Graph& net) {
  const ReplicaSetOptions options =
      replicaSetOptions({.graph = &net, .strategy = &find(strategies(), "replicated", "strategy")});
  FirstStep first;
  ReplicaSet(options).run([&](ReplicaSet::Member& member) {
    Batch batch;
    options.source(0)->next(batch);
    for (const at::Tensor& output : member.executor().forward(batch)) first.outputs.push_back(output.detach().clone());
    first.labels = batch.labels;
    member.step();
    first.loss = member.losses().front();
  });
  return first;
}

TEST(EquivalenceLossOracle, TheLossOfAStepIsLibtorchs) {
  const FirstStep softmax = firstStep(twoHeaded(find(taskLosses(), "softmax_cross_entropy", "loss")));
  const auto crossEntropy = [&](size_t i) {
    return at::cross_entropy_loss(softmax.outputs[i], softmax.labels).item<double>();
  };
  EXPECT_NEAR(softmax.loss, crossEntropy(0) + 0.3 * crossEntropy(1), 1e-6);

  const FirstStep sigmoid = firstStep(twoHeaded(find(taskLosses(), "binary_cross_entropy", "loss")));
  EXPECT_EQ(sigmoid.labels.sizes(), (at::IntArrayRef{globalBatch, classes}));
  const auto binary = [&](size_t i) {
    return at::binary_cross_entropy_with_logits(sigmoid.outputs[i], sigmoid.labels.to(at::kFloat)).item<double>();
  };
  EXPECT_NEAR(sigmoid.loss, binary(0) + 0.3 * binary(1), 1e-6);

  const FirstStep oneHot = firstStep(twoHeaded(find(taskLosses(), "one_hot_binary_cross_entropy", "loss")));
  const auto ofClasses = [&](size_t i) {
    const at::Tensor target = at::one_hot(oneHot.labels, classes).to(at::kFloat);
    return at::binary_cross_entropy_with_logits(oneHot.outputs[i], target).item<double>();
  };
  EXPECT_NEAR(oneHot.loss, ofClasses(0) + 0.3 * ofClasses(1), 1e-6);
}

}  // namespace
}  // namespace tandem::equivalence

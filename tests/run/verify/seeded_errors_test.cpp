// Errors of a thousandth show in the stamp of equal results, wherever they are made.
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "graph/operation.h"
#include "run/verify/compared_team.h"

namespace tandem::equivalence {
namespace {

constexpr double wrong = 1.001;

/// An executor with one wrong operation: the gradient of one parameter, or the batch-norm in forward and backward.
class WrongExecutor final : public Executor {
 public:
  WrongExecutor(const ExecutorOptions& options, std::string gradient, double epsilon)
      : inner_(find(executors(), "planned", "executor").make(options)),
        gradient_(std::move(gradient)),
        epsilon_(epsilon) {}

  void bind(const Graph& graph, FlatBuffers& buffers) override {
    buffers_ = &buffers;
    graph_ = std::make_unique<Graph>(graph.node(graph.input()).shape);
    for (const Node& node : graph.nodes().subspan(1)) {
      Attributes attributes = node.attributes;
      if (node.operation->name == "batch_norm") attributes.epsilon += epsilon_;
      graph_->add(node.operation->name, node.name, node.inputs, attributes);
    }
    inner_->bind(*graph_, buffers);
  }
  void setTraining(bool training) override { inner_->setTraining(training); }
  void setGradients(bool keep) override { inner_->setGradients(keep); }
  std::span<const at::Tensor> forward(const Batch& batch) override { return inner_->forward(batch); }
  void backward(std::span<const at::Tensor> outputGradients, const GradientReady& ready) override {
    inner_->backward(outputGradients, [&](std::span<const Slice> slices) {
      for (const Slice slice : slices) {
        const at::NoGradGuard noGradients;
        const int index = buffers_->indexOf(gradient_);
        if (index >= 0 && slice == buffers_->slice(index)) buffers_->gradient(slice).mul_(wrong);
      }
      ready(slices);
    });
  }
  const at::Generator& generator() const override { return inner_->generator(); }
  std::vector<std::pair<std::string, at::Tensor>> statistics() const override { return inner_->statistics(); }

 private:
  std::unique_ptr<Executor> inner_;
  std::string gradient_;
  double epsilon_;
  FlatBuffers* buffers_ = nullptr;
  std::unique_ptr<Graph> graph_;
};

std::unique_ptr<Executor> withAWrongGradient(const ExecutorOptions& options) {
  return std::make_unique<WrongExecutor>(options, "conv2.weight", 0);
}
/// The variance of what it normalises is about 1, so that its results are a thousandth too small.
std::unique_ptr<Executor> withAWrongNorm(const ExecutorOptions& options) {
  return std::make_unique<WrongExecutor>(options, "", 2 * (wrong - 1));
}
std::unique_ptr<Executor> withoutError(const ExecutorOptions& options) {
  return std::make_unique<WrongExecutor>(options, "", 0);
}

/// A group whose first sum is wrong.
class WrongGroup final : public Group {
 public:
  explicit WrongGroup(std::unique_ptr<Group> inner) : inner_(std::move(inner)) {}
  Ticket start(at::Tensor tensor, Collective op) override {
    const Ticket ticket = inner_->start(tensor, op);
    if (op == Collective::sum && !sum_.defined()) sum_ = tensor, ticket_ = ticket;
    return ticket;
  }
  bool progress() override { return inner_->progress(); }
  void wait(Ticket ticket) override {
    const at::NoGradGuard noGradients;
    inner_->wait(ticket);
    if (sum_.defined() && ticket == ticket_) sum_.mul_(wrong), ticket_ = -1;
  }

 private:
  std::unique_ptr<Group> inner_;
  at::Tensor sum_;
  Ticket ticket_ = -1;
};

std::vector<std::unique_ptr<Group>> wrongGroups(const GroupOptions& options) {
  auto groups = find(allReduces(), "ring", "all-reduce").make(options);
  for (auto& group : groups) group = std::make_unique<WrongGroup>(std::move(group));
  return groups;
}

std::unique_ptr<Optimizer> withAWrongRate(FlatBuffers& buffers, const OptimizerOptions& options) {
  OptimizerOptions changed = options;
  changed.learningRate *= wrong;
  return find(optimizers(), "sgd", "optimizer").make(buffers, changed);
}
std::unique_ptr<Optimizer> withAWrongMomentum(FlatBuffers& buffers, const OptimizerOptions& options) {
  OptimizerOptions changed = options;
  changed.momentum *= 1 - 4 * (wrong - 1);  // the second of two steps alone reads it
  return find(optimizers(), "sgd", "optimizer").make(buffers, changed);
}

class SeededError : public testing::Test {
 protected:
  ReplicaSetOptions options() const {
    return replicaSetOptions({.graph = &net_,
                              .strategy = &find(strategies(), "replicated", "strategy"),
                              .allReduce = "ring",
                              .executor = "planned",
                              .replicas = 2});
  }
  EqualityStamp stampOf(const ReplicaSetOptions& team) const { return equivalence::stampOf(team, net_); }

  /// Its worst parameter is off by 3e-4 or more, and ten times as far as plain ATen's in fp32.
  static void expectItShows(const EqualityStamp& stamp) {
    ASSERT_EQ(stamp.reason, "");
    EXPECT_GE(stamp.error.worst, 3e-4) << stamp.error.where;
    EXPECT_GE(stamp.error.worst, 10 * stamp.plain.back().error.worst) << stamp.error.where;
  }

  const Graph net_ = normNet();
};

TEST_F(SeededError, NoneIsThere) {
  ReplicaSetOptions team = options();
  const ExecutorEntry right{"right", "", withoutError};
  team.executor = &right;
  const EqualityStamp stamp = stampOf(team);
  EXPECT_LE(stamp.error.worst, 4 * stamp.plain.back().error.worst);
  EXPECT_TRUE(stamp.bitEqual);
}

TEST_F(SeededError, InTheGradientOfOneConvolutionShows) {
  ReplicaSetOptions team = options();
  const ExecutorEntry mutant{"mutant", "", withAWrongGradient};
  team.executor = &mutant;
  const EqualityStamp stamp = stampOf(team);
  expectItShows(stamp);
  EXPECT_TRUE(stamp.bitEqual) << "one replica with the same kernels makes it too";
}

TEST_F(SeededError, InOneBatchNormShows) {
  ReplicaSetOptions team = options();
  const ExecutorEntry mutant{"mutant", "", withAWrongNorm};
  team.executor = &mutant;
  expectItShows(stampOf(team));
}

TEST_F(SeededError, InOneSumOfOneAllReduceShows) {
  AllReduceEntry mutant = find(allReduces(), "ring", "all-reduce");
  mutant.makeSpanning = wrongGroups;
  ReplicaSetOptions team = options();
  team.allReduce = &mutant;
  const EqualityStamp stamp = stampOf(team);
  expectItShows(stamp);
  EXPECT_FALSE(stamp.bitEqual) << "one replica sums nothing";
  EXPECT_GT(stamp.differenceOfReplicas, 1e-5);
}

TEST_F(SeededError, InTheOptimizersRateOrMomentumShows) {
  for (const auto make : {withAWrongRate, withAWrongMomentum}) {
    OptimizerEntry mutant = find(optimizers(), "sgd", "optimizer");
    mutant.make = make;
    ReplicaSetOptions team = options();
    team.optimizer.rule = &mutant;
    expectItShows(stampOf(team));
  }
}

}  // namespace
}  // namespace tandem::equivalence

#include <gtest/gtest.h>

#include <map>

#include "run/equivalence_cases.h"

namespace tandem::equivalence {
namespace {

Graph normNet() {
  Graph net({3, imageSize, imageSize});
  NodeId x = net.add("conv", "conv1", {net.input()}, conv3x3(8, false));
  x = net.add("batch_norm", "bn1", {x});
  x = net.add("relu", "relu1", {x});
  x = net.add("max_pool", "pool", {x}, pool2x2());
  x = net.add("conv", "conv2", {x}, conv3x3(16, false));
  x = net.add("batch_norm", "bn2", {x});
  x = net.add("relu", "relu2", {x});
  x = net.add("global_avg_pool", "gap", {x});
  x = net.add("flatten", "flatten", {x});
  net.add("linear", "fc", {x}, {.outputs = classes});
  return net;
}

using Tensors = std::map<std::string, at::Tensor>;

at::Tensor normRelu(const at::Tensor& x, Tensors& p, const std::string& name) {
  return at::relu(
      at::batch_norm(x, p[name + ".weight"], p[name + ".bias"], {}, {}, /*training=*/true, 0.1, 1e-5, false));
}

at::Tensor forward(at::Tensor x, Tensors& p) {
  x = normRelu(at::conv2d(x, p["conv1.weight"], {}, 1, 1), p, "bn1");
  x = normRelu(at::conv2d(at::max_pool2d(x, 2, 2), p["conv2.weight"], {}, 1, 1), p, "bn2");
  return at::linear(x.mean({2, 3}), p["fc.weight"], p["fc.bias"]);
}

/// Data-parallel SGD written with ATen's own autograd and nothing of the program but its batches. Activations and
/// weights are of `type`; what Tandem keeps in fp32 is fp32, or all of it fp64 with that type.
class Reference {
 public:
  Reference(const Weights& initial, int replicas, at::ScalarType type)
      : replicas_(replicas), type_(type), wide_(type == at::kDouble ? at::kDouble : at::kFloat) {
    for (size_t i = 0; i < initial.values.size(); ++i) {
      masters_[initial.names[i]] = initial.values[i].to(wide_, /*non_blocking=*/false, /*copy=*/true);
      velocity_[initial.names[i]] = at::zeros_like(masters_[initial.names[i]]);
    }
  }

  void step(int64_t k) {
    Tensors sum;
    for (int replica = 0; replica < replicas_; ++replica) {
      for (const auto& [name, gradient] : gradients(replica, k)) {
        sum[name] = sum.contains(name) ? sum[name] + gradient : gradient;
      }
    }
    const OptimizerOptions& sgd = optimizerOptions();
    for (auto& [name, w] : masters_) {
      velocity_[name] = velocity_[name] * sgd.momentum + sum[name] / replicas_ + w * sgd.weightDecay;
      w = w - velocity_[name] * sgd.learningRate;
    }
  }

  Weights weightsLike(const Weights& names) {
    Weights weights{names.names, {}};
    for (const std::string& name : names.names) weights.values.push_back(masters_[name]);
    return weights;
  }

 private:
  Tensors gradients(int replica, int64_t k) {
    const int64_t share = globalBatch / replicas_;
    const auto maker = makerOf(replica * share, share);
    const HostBatch batch = maker->make(k);
    const at::Tensor like = at::empty({share, 3, imageSize, imageSize}, at::TensorOptions().dtype(type_));
    Tensors leaves;
    for (const auto& [name, w] : masters_) {
      const bool norm = name.starts_with("bn");
      leaves[name] = w.detach().clone().to(norm ? wide_ : type_).requires_grad_();
    }
    const at::Tensor output =
        forward(normalizeReference(batch.images, maker->dataset().info().normalization, like), leaves);
    const double scale = type_ == at::kHalf ? lossScale : 1;
    (at::cross_entropy_loss(output.to(wide_), batch.labels) * scale).backward();
    Tensors found;
    for (const auto& [name, leaf] : leaves) found[name] = leaf.grad().to(wide_) / scale;
    return found;
  }

  int replicas_;
  at::ScalarType type_, wide_;
  Tensors masters_, velocity_;
};

const Weights& referenceOf(int replicas, at::ScalarType type, const Weights& initial) {
  static std::map<std::pair<int, at::ScalarType>, Weights> known;
  const auto [place, isNew] = known.try_emplace({replicas, type});
  if (isNew) {
    Reference reference(initial, replicas, type);
    for (int64_t step = 0; step < steps; ++step) reference.step(step);
    place->second = reference.weightsLike(initial);
  }
  return place->second;
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).norm().item<double>();
}

/// fp32: as near to fp64 as 1e-5 of the norm, or as twice what ATen's fp32 loses on the way. A shift starts at zero,
/// and the thousands of terms of its gradient cancel. How much then is lost hangs on the order of the sum, which
/// differs by processor and number of threads (measured: 40 times). So no less than a hundredth of the norm of all
/// parameters counts. 16 bits: as near to ATen's as the suite's bound.
void expectReference(const Weights& actual, const Case& c, const Weights& initial) {
  const auto type = find(precisions(), c.precision, "precision").compute;
  const Weights& aten = referenceOf(c.replicas, type, initial);
  if (type != at::kFloat) {
    const Difference found = difference(actual, aten, initial);
    EXPECT_TRUE(equal(found, c)) << found.where << " differs by " << found.ofChange << " of its change";
    return;
  }
  const Weights& exact = referenceOf(c.replicas, at::kDouble, initial);
  double squares = 0;
  for (const at::Tensor& values : exact.values) squares += std::pow(values.norm().item<double>(), 2);
  for (size_t i = 0; i < exact.values.size(); ++i) {
    const double size = std::max(exact.values[i].norm().item<double>(), 1e-2 * std::sqrt(squares));
    const double bound = std::max(1e-5 * size, 2 * distance(aten.values[i], exact.values[i]));
    EXPECT_LE(distance(actual.values[i], exact.values[i]), bound) << exact.names[i];
  }
}

class EquivalenceWithBatchNorm : public testing::TestWithParam<StrategyCases> {};

TEST_P(EquivalenceWithBatchNorm, EqualsAnAutogradReferenceThatNormalisesPerReplica) {
  const Exchange exchange = GetParam().strategy.exchange;
  if (exchange == Exchange::none || exchange == Exchange::stale) GTEST_SKIP() << "covered without batch-norm";
  const Graph net = normNet();
  for (const Case& c : GetParam().of(net)) {
    const Trained trained = train(c);
    for (int rank = 0; rank < c.replicas; ++rank) {
      SCOPED_TRACE(concat(c.name(), ", replica ", rank));
      expectReference(trained.replicas[rank], c, trained.initial);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, EquivalenceWithBatchNorm, testing::ValuesIn(casesOfEachStrategy(/*all=*/false)),
                         [](const auto& info) { return std::string(info.param.strategy.name); });
INSTANTIATE_TEST_SUITE_P(LongCatalog, EquivalenceWithBatchNorm, testing::ValuesIn(casesOfEachStrategy(/*all=*/true)),
                         [](const auto& info) { return std::string(info.param.strategy.name); });

// To the bit, whoever exchanges the gradients, and of a batch in parts too.
TEST(EquivalenceNorm, ComputingActivationsAgainGivesTheSameWeights) {
  const Graph net = normNet();
  for (const StrategyEntry& strategy : strategies()) {
    for (const int64_t parts : {1, 2}) {
      Case c{.graph = &net, .strategy = &strategy, .executor = "planned", .replicas = 2, .accumulate = parts};
      const Trained expected = train(c);
      for (const RecomputeEntry& policy : recomputes()) {
        c.recompute = policy.name;
        const Trained found = train(c);
        for (size_t rank = 0; rank < 2; ++rank) {
          for (size_t i = 0; i < expected.replicas[rank].values.size(); ++i) {
            EXPECT_TRUE(at::equal(found.replicas[rank].values[i], expected.replicas[rank].values[i]))
                << strategy.name << ' ' << policy.name << ' ' << expected.replicas[rank].names[i];
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tandem::equivalence

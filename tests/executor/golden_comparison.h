#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/catalog.h"
#include "base/error.h"
#include "device/memory_layout.h"
#include "executor/model_subject.h"
#include "models/model.h"
#include "support/large_tensors.h"

/// Whether a model is the one its name promises: weights by formula, numbers by torchvision or an independent reference
/// in float64 (tests/golden/make_golden.py).
namespace tandem::golden {

constexpr double tolerance = 1e-4;

/// Of the logits from the expected ones, over their norm.
inline double relativeDistance(const at::Tensor& logits, const nlohmann::json& expected) {
  const auto rows = expected.get<std::vector<std::vector<double>>>();
  check(logits.sizes() == at::IntArrayRef{std::ssize(rows), std::ssize(rows[0])}, "logits as golden ones");
  double difference = 0, norm = 0;
  for (int64_t row = 0; row < std::ssize(rows); ++row) {
    const at::Tensor wanted = at::tensor(rows[row], at::kDouble);
    difference += (logits[row].to(at::kCPU, at::kDouble) - wanted).square().sum().item<double>();
    norm += wanted.square().sum().item<double>();
  }
  return std::sqrt(difference / norm);
}

/// In evaluation nothing brings a layer's values back to one size, and where they grow a last bit decides what a ReLU
/// lets through: on another processor a gradient differs by up to 0.3 % (measured, resnet101_v2). How near they are to
/// fp64 is zoo_test.cpp's question.
inline double gradientTolerance(bool training) { return training ? tolerance : 100 * tolerance; }

/// `all`: there are no others.
inline void expectGradients(const FlatBuffers& buffers, const nlohmann::json& expected, bool all = true,
                            bool training = true) {
  const auto norms = expected.get<std::map<std::string, double>>();
  double largest = 0;
  for (const auto& [name, norm] : norms) largest = std::max(largest, norm);
  EXPECT_TRUE(!all || buffers.parameters() == std::ssize(norms));
  for (const auto& [name, norm] : norms) {
    const int index = buffers.indexOf(name);
    ASSERT_GE(index, 0) << name;
    const double allowed = gradientTolerance(training) * std::max(norm, 1e-3 * largest);
    EXPECT_NEAR(exactNorm(buffers.gradientView(index)), norm, allowed) << name;
  }
}

inline void expectStatistics(const Executor& executor, const nlohmann::json& expected) {
  const auto statistics = executor.statistics();
  EXPECT_EQ(statistics.size(), expected.size());
  for (const auto& [name, tensor] : statistics) {
    const auto norm = expected.at(name).get<double>();
    EXPECT_NEAR(exactNorm(tensor), norm, tolerance * norm) << name;
  }
}

/// A model with its golden numbers.
class GoldenModel {
 public:
  explicit GoldenModel(const std::string& name)
      : golden_(goldenOf(name)),
        size_(golden_.at("imageSize")),
        classes_(golden_.at("classes")),
        graph_(buildModel(name, {.classes = classes_, .imageSize = size_, .dropout = 0})),
        weights_(formulaWeights(graph_)) {}

  const Graph& graph() const { return graph_; }
  const nlohmann::json& numbers(bool training) const { return golden_.at(training ? "train" : "eval"); }

  /// Of the model, or of one with another graph and the same parameters.
  ModelSubject subject(const Graph& graph, const ExecutorEntry& executor, const LayoutEntry& layout) const {
    return {graph, find(precisions(), "fp32", "precision"), executor, {.kernels = {.layout = layout}}, weights_};
  }

  /// Makes the subject what the golden numbers begin with, and returns their images.
  Batch begin(ModelSubject& subject, bool training) const {
    subject.resetStatistics();
    subject.executor().setTraining(training);
    const auto rows = static_cast<int64_t>(numbers(training).at("logits").size());
    return subject.batch(numbers(training).at("input"), {rows, 3, size_, size_}, classes_);
  }

  void expectGolden(ModelSubject& subject, bool training) const {
    const nlohmann::json& expected = numbers(training);
    int64_t reported = 0;
    const Batch batch = begin(subject, training);
    const double loss = subject.pass(batch, [&](auto slices) { reported += std::ssize(slices); });
    EXPECT_LE(relativeDistance(subject.logits(), expected.at("logits")), tolerance);
    EXPECT_NEAR(loss / expected.at("loss").get<double>(), 1, tolerance);
    EXPECT_EQ(reported, subject.buffers().parameters());
    expectGradients(subject.buffers(), expected.at("gradients"), /*all=*/true, training);
    if (training) expectStatistics(subject.executor(), expected.at("statistics"));
  }

  /// In training, and in evaluation unless that is left out.
  void expectGolden(const ExecutorEntry& executor, const LayoutEntry& layout, bool evaluates = true) const {
    ModelSubject subject = this->subject(graph_, executor, layout);
    for (const bool training : {true, false}) {
      if (!training && !evaluates) continue;
      SCOPED_TRACE(concat(executor.name, ", ", layout.name, training ? ", train" : ", eval"));
      expectGolden(subject, training);
    }
  }

  /// By every executor in every layout. `usual`: none that is neither the first nor has kernels of its own.
  void expectGolden(bool usual = false) const {
    for (const ExecutorEntry& executor : executors()) {
      for (const LayoutEntry& layout : layouts()) {
        if (usual && !layout.blocked && layout.name != layouts().front().name) continue;
        if (serves(executor, layout, at::kCPU)) expectGolden(executor, layout);
      }
    }
  }

 private:
  nlohmann::json golden_;
  int64_t size_, classes_;
  Graph graph_;
  std::vector<at::Tensor> weights_;
};

}  // namespace tandem::golden

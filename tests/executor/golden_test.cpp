// Each model is the one its name promises: weights by formula, numbers by torchvision or an independent reference in
// float64 (tests/golden/make_golden.py).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/catalog.h"
#include "device/layout.h"
#include "executor/model_subject.h"
#include "models/model.h"

namespace tandem {
namespace {

constexpr double tolerance = 1e-4;

double normOf(const at::Tensor& tensor) { return tensor.norm(2, at::kDouble).item<double>(); }

void expectLogits(const at::Tensor& logits, const nlohmann::json& expected) {
  const auto rows = expected.get<std::vector<std::vector<double>>>();
  ASSERT_EQ(logits.sizes(), (std::vector<int64_t>{std::ssize(rows), std::ssize(rows[0])}));
  double difference = 0, norm = 0;
  for (int64_t row = 0; row < std::ssize(rows); ++row) {
    const at::Tensor wanted = at::tensor(rows[row], at::kDouble);
    difference += (logits[row].to(at::kDouble) - wanted).square().sum().item<double>();
    norm += wanted.square().sum().item<double>();
  }
  EXPECT_LE(std::sqrt(difference / norm), tolerance);
}

void expectGradients(const FlatBuffers& buffers, const nlohmann::json& expected) {
  const auto norms = expected.get<std::map<std::string, double>>();
  double largest = 0;
  for (const auto& [name, norm] : norms) largest = std::max(largest, norm);
  EXPECT_EQ(buffers.parameters(), std::ssize(norms));
  for (const auto& [name, norm] : norms) {
    const int index = buffers.indexOf(name);
    ASSERT_GE(index, 0) << name;
    EXPECT_NEAR(normOf(buffers.gradientView(index)), norm, tolerance * std::max(norm, 1e-3 * largest)) << name;
  }
}

void expectStatistics(const Executor& executor, const nlohmann::json& expected) {
  const auto statistics = executor.statistics();
  EXPECT_EQ(statistics.size(), expected.size());
  for (const auto& [name, tensor] : statistics) {
    const auto norm = expected.at(name).get<double>();
    EXPECT_NEAR(normOf(tensor), norm, tolerance * norm) << name;
  }
}

class GoldenModel : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    golden_ = goldenOf(GetParam());
    size_ = golden_.at("imageSize"), classes_ = golden_.at("classes"), rows_ = golden_.at("batch");
  }

  void expectGolden(ModelSubject& subject, bool training) {
    const nlohmann::json& expected = golden_.at(training ? "train" : "eval");
    subject.resetStatistics();
    subject.executor().setTraining(training);
    const Batch batch = subject.batch(expected.at("input"), {rows_, 3, size_, size_}, classes_);
    int reported = 0;
    const double loss = subject.pass(batch, [&](Slice) { ++reported; });
    expectLogits(subject.logits(), expected.at("logits"));
    EXPECT_NEAR(loss / expected.at("loss").get<double>(), 1, tolerance);
    EXPECT_EQ(reported, subject.buffers().parameters());
    expectGradients(subject.buffers(), expected.at("gradients"));
    if (training) expectStatistics(subject.executor(), expected.at("statistics"));
  }

  nlohmann::json golden_;
  int64_t size_ = 0, classes_ = 0, rows_ = 0;
};

TEST_P(GoldenModel, EqualsItsReference) {
  const Graph graph = buildModel(GetParam(), {.classes = classes_, .imageSize = size_, .dropout = 0});
  const Precision& precision = find(precisions(), "fp32", "precision");
  for (const ExecutorEntry& executor : executors()) {
    for (const LayoutEntry& layout : layouts()) {
      if (!serves(executor, layout, at::kCPU)) continue;
      ModelSubject subject(graph, precision, executor, layout);
      for (const bool training : {true, false}) {
        SCOPED_TRACE(concat(executor.name, ", ", layout.name, training ? ", train" : ", eval"));
        expectGolden(subject, training);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, GoldenModel, testing::ValuesIn(namesOf(models())),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace tandem

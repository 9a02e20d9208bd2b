// Each model is the one its name promises: weights by formula, numbers by torchvision or an independent reference in
// float64 (tests/golden/make_golden.py).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/catalog.h"
#include "device/layout.h"
#include "executor/executor.h"
#include "golden/formula.h"
#include "kernels/softmax_cross_entropy.h"
#include "models/model.h"

namespace tandem {
namespace {

constexpr double tolerance = 1e-4;

at::Tensor formulaTensor(std::string_view name, const std::vector<int64_t>& shape) {
  return at::tensor(golden::values(name, shape)).view(shape);
}

/// One model in one layout and executor, with the formula's weights.
class Subject {
 public:
  Subject(const Graph& graph, const LayoutEntry& layout, const ExecutorEntry& executor)
      : buffers_(parameterSpecs(graph, {.layout = layout}), find(precisions(), "fp32", "precision"), at::kCPU,
                 layout.format),
        format_(layout.format) {
    for (int i = 0; i < buffers_.parameters(); ++i) {
      at::Tensor master = buffers_.masterView(i);
      master.copy_(formulaTensor(buffers_.spec(i).name, buffers_.spec(i).shape).view(master.sizes()));
    }
    buffers_.refreshWeights();
    ExecutorOptions options;
    options.layout = layout;
    executor_ = executor.make(options);
    executor_->bind(graph, buffers_);
  }

  void resetStatistics() {
    for (auto& [name, tensor] : executor_->statistics()) tensor.copy_(formulaTensor(name, tensor.sizes().vec()));
  }

  Batch batch(const std::string& name, const std::vector<int64_t>& shape, int64_t classes) const {
    std::vector<int64_t> labels;
    for (int64_t row = 0; row < shape[0]; ++row) labels.push_back(golden::label(row, classes));
    Batch batch;
    batch.images = formulaTensor(name, shape).contiguous(format_);
    batch.labels = at::tensor(labels, at::kLong);
    return batch;
  }

  Executor& executor() { return *executor_; }
  const FlatBuffers& buffers() const { return buffers_; }

 private:
  FlatBuffers buffers_;
  at::MemoryFormat format_;
  std::unique_ptr<Executor> executor_;
};

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
    const std::string path = concat(TANDEM_TESTS_DIR, "/golden/", GetParam(), ".json");
    std::ifstream file(path);
    ASSERT_TRUE(file.good()) << path << " is missing: run tests/golden/make_golden.py";
    golden_ = nlohmann::json::parse(file);
    size_ = golden_.at("imageSize"), classes_ = golden_.at("classes"), rows_ = golden_.at("batch");
  }

  void expectGolden(Subject& subject, bool training) {
    const nlohmann::json& expected = golden_.at(training ? "train" : "eval");
    subject.resetStatistics();
    Executor& executor = subject.executor();
    executor.setTraining(training);
    const Batch batch = subject.batch(expected.at("input"), {rows_, 3, size_, size_}, classes_);
    const at::Tensor logits = executor.forward(batch)[0];
    expectLogits(logits, expected.at("logits"));
    const LossAndGradient loss = softmaxCrossEntropy(logits, batch.labels, 0, rows_);
    EXPECT_NEAR(loss.loss.item<double>() / expected.at("loss").get<double>(), 1, tolerance);
    int reported = 0;
    executor.backward(std::array{loss.gradient}, [&](Slice) { ++reported; });
    EXPECT_EQ(reported, subject.buffers().parameters());
    expectGradients(subject.buffers(), expected.at("gradients"));
    if (training) expectStatistics(executor, expected.at("statistics"));
  }

  nlohmann::json golden_;
  int64_t size_ = 0, classes_ = 0, rows_ = 0;
};

TEST_P(GoldenModel, EqualsItsReference) {
  const Graph graph = buildModel(GetParam(), {.classes = classes_, .imageSize = size_, .dropout = 0});
  for (const ExecutorEntry& executor : executors()) {
    for (const LayoutEntry& layout : layouts()) {
      if (!serves(executor, layout, at::kCPU)) continue;
      Subject subject(graph, layout, executor);
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

// SSD-300 beside its golden numbers, which it has of its own: see BOXES in tests/golden/make_golden.py.
#include "executor/changed_graph.h"
#include "executor/golden_comparison.h"
#include "kernels/loss/losses.h"
#include "support/test_devices.h"

namespace tandem::golden {
namespace {

class Ssd : public testing::Test {
 protected:
  at::Tensor labels() const {
    std::vector<at::Tensor> images;
    for (int64_t row = 0; row < rows_; ++row) {
      images.push_back(at::tensor(boxes(row, classes_)).view({multiboxObjects, multiboxNumbers}));
    }
    return at::stack(images);
  }

  ModelSubject subject(const Graph& graph, const ExecutorEntry& executor, const LayoutEntry& layout,
                       at::Device device = at::kCPU) const {
    return {graph, find(precisions(), "fp32", "precision"), executor,
            ExecutorOptions{.kernels = {.layout = layout}, .device = device}};
  }

  /// [N, (4 + classes) * 8732]
  at::Tensor outputOf(ModelSubject& subject) const {
    const Batch batch = subject.batch(golden_.at("input"),
                                      {rows_, 3, graph_.node(0).shape.height, graph_.node(0).shape.width}, classes_);
    return subject.executor().forward(batch)[0];
  }

  static double distance(const at::Tensor& output, const nlohmann::json& golden) {
    return relativeDistance(output.view({output.size(0), -1, ssdDefaultBoxes().size(0)}).mean(2), golden.at("logits"));
  }

  const nlohmann::json golden_ = goldenOf("ssd300");
  const int64_t classes_ = golden_.at("classes"), rows_ = golden_.at("batch");
  const Graph graph_ = buildModel("ssd300", {.classes = classes_});
};

TEST_F(Ssd, EqualsItsReference) {
  for (const at::Device device : testDevices()) {
    for (const ExecutorEntry& executor : executors()) {
      for (const LayoutEntry& layout : layouts()) {
        if (!serves(executor, layout, device)) continue;
        SCOPED_TRACE(concat(executor.name, ", ", layout.name, " on ", device.str()));
        ModelSubject net = subject(graph_, executor, layout, device);
        const at::Tensor output = outputOf(net);
        EXPECT_LE(distance(output, golden_), tolerance);
        const LossAndGradient loss = multiboxLoss(output, labels().to(device), ssdDefaultBoxes().to(device), 0, rows_);
        EXPECT_NEAR(loss.loss.item<double>() / golden_.at("loss").get<double>(), 1, tolerance);
        int64_t reported = 0;
        net.executor().backward(std::vector<at::Tensor>{loss.gradient},
                                [&](auto slices) { reported += std::ssize(slices); });
        EXPECT_EQ(reported, net.buffers().parameters());
        expectGradients(net.buffers(), golden_.at("gradients"), /*all=*/false);
      }
    }
  }
}

TEST_F(Ssd, WithAMistakeIsFarFromItsReference) {
  const Graph wrong = changed(graph_, without("additional_blocks.1.1"));
  ModelSubject net = subject(wrong, find(executors(), "planned", "executor"), layouts().front());
  EXPECT_GT(distance(outputOf(net), golden_), 2 * tolerance);
}

}  // namespace
}  // namespace tandem::golden

// A step of training at 224 pixels beside PyTorch: in fp32, and in bf16 as by its autocast.
#include "executor/golden_comparison.h"
#include "golden/marks.h"
#include "kernels/conv/convolution.h"

namespace tandem::golden {
namespace {

/// How far a step is from PyTorch's in fp64.
struct StepDistance {
  double logits = 0, loss = 0;
  Distances gradients = {};
};

// NOLINTNEXTLINE(readability-identifier-naming): nlohmann_json looks for this name
void from_json(const nlohmann::json& object, StepDistance& distance) {
  distance = {object.at("logits"), object.at("loss"), object.at("gradients")};
}

class GoldenFullSize : public testing::TestWithParam<std::string> {
 protected:
  GoldenFullSize() : golden_(goldenOf(GetParam()).at("fullSize")) {}

  /// Compares the running statistics, too.
  StepDistance distanceIn(const char* precision) const {
    const int64_t size = golden_.at("imageSize"), images = golden_.at("batch");
    const auto classes = static_cast<int64_t>(golden_.at("logits")[0].size());
    const Graph graph = buildModel(GetParam(), {.classes = classes, .imageSize = size, .dropout = 0});
    ModelSubject subject(graph, find(precisions(), precision, "precision"), find(executors(), "planned", "executor"),
                         layouts().front());
    subject.executor().setTraining(true);
    const double loss = subject.pass(subject.batch(golden_.at("input"), {images, 3, size, size}, classes), [](auto) {});
    Marks found;
    for (int i = 0; i < subject.buffers().parameters(); ++i) {
      const std::string& name = subject.buffers().spec(i).name;
      found[name] = markOf(name, subject.gradient(i));
    }
    return {relativeDistance(subject.logits(), golden_.at("logits")),
            std::abs(loss / golden_.at("loss").get<double>() - 1),
            distances(golden_.at("gradients").get<Marks>(), found)};
  }

  nlohmann::json golden_;
};

TEST_P(GoldenFullSize, IsTheStepOfPyTorch) {
  const StepDistance found = distanceIn("fp32");
  EXPECT_LE(found.logits, tolerance);
  EXPECT_LE(found.loss, tolerance);
  EXPECT_LE(found.gradients.worst, 10 * tolerance) << found.gradients.worstName;
  EXPECT_LE(found.gradients.typical, tolerance);
}

// Which values bf16 puts on the other side of a ReLU is chance, here and in PyTorch: a tensor of few values may be off
// by its size, and the loss is one number. All tensors together are not.
TEST_P(GoldenFullSize, InBf16IsAsNearAsByAutocast) {
  if (!convolutionsTake(at::kBFloat16)) GTEST_SKIP() << "a build without convolutions in bf16";
  const StepDistance found = distanceIn("bf16"), autocast = golden_.at("errors").at("bfloat16");
  EXPECT_LE(found.logits, 2 * autocast.logits);
  EXPECT_LE(found.loss, 4 * std::max(autocast.loss, autocast.logits));
  EXPECT_LE(found.gradients.typical, 2 * autocast.gradients.typical);
  EXPECT_LE(found.gradients.worst, 3 * autocast.gradients.worst) << found.gradients.worstName;
}

INSTANTIATE_TEST_SUITE_P(Networks, GoldenFullSize, testing::Values("resnet50", "mobilenet_v2", "densenet121"),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace tandem::golden

#include <ATen/record_function.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "kernels/loss/losses.h"
#include "kernels/numerical_gradient.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

constexpr int64_t classes = 5, boxes = 8732;

/// Objects of random sizes; the last image has none.
at::Tensor someLabels(int64_t images) {
  at::Tensor labels = at::zeros({images, multiboxObjects, multiboxNumbers});
  for (int64_t n = 0; n + 1 < images; ++n) {
    for (int64_t m = 0; m <= n % multiboxObjects; ++m) {
      const at::Tensor size = at::rand({2}) * 0.5 + 0.1, begin = at::rand({2}) * (1 - size);
      labels[n][m].copy_(at::cat({at::randint(1, classes, {1}).to(at::kFloat), begin, begin + size}));
    }
  }
  return labels;
}

at::Tensor scores(int64_t images) { return 2 * at::randn({images, (4 + classes) * boxes}); }

/// Without smoothing.
LossAndGradient onCpu(const at::Tensor& output, const at::Tensor& labels, int64_t divisor) {
  return multiboxLoss(output, labels, ssdDefaultBoxes(), 0, divisor);
}

/// [4 + classes, boxes] of image `n`: a view.
at::Tensor byBox(const at::Tensor& values, int64_t n = 0) { return values[n].view({4 + classes, boxes}); }

TEST(Multibox, DefaultBoxesAreThoseOfSsd300) {
  const at::Tensor all = ssdDefaultBoxes();
  ASSERT_EQ(all.sizes(), (at::IntArrayRef{boxes, 4}));
  const auto row = [&](int64_t i) { return all[i]; };
  EXPECT_TRUE(at::allclose(row(0), at::tensor({4 / 300.F, 4 / 300.F, 21 / 300.F, 21 / 300.F})));
  // The second kind of the first level, its last pixel; the first of the second level, second pixel of the first row.
  const float between = std::sqrt(21 / 300.F * 45 / 300.F);
  EXPECT_TRUE(at::allclose(row(2 * 38 * 38 - 1), at::tensor({300 / 300.F, 300 / 300.F, between, between})));
  EXPECT_TRUE(at::allclose(row(4 * 38 * 38 + 1), at::tensor({24 / 300.F, 8 / 300.F, 45 / 300.F, 45 / 300.F})));
  EXPECT_TRUE(at::allclose(row(boxes - 4), at::tensor({0.5F, 0.5F, 0.87F, 0.87F})));
}

// An object that is a default box; no score speaks for any class.
TEST(Multibox, OfOneObjectIsAsByHand) {
  const at::Tensor own = ssdDefaultBoxes()[boxes - 4];  // the middle, 0.87 wide
  at::Tensor labels = at::zeros({1, multiboxObjects, multiboxNumbers});
  const float edge = 0.5F - own[2].item<float>() / 2;
  labels[0][0].copy_(at::tensor({3.F, edge, edge, 1 - edge, 1 - edge}));
  const at::Tensor output = at::zeros({1, (4 + classes) * boxes});
  // Offsets that fit all matched boxes but the object's own, which is 1 off in one coordinate and 0.5 in another.
  const LossAndGradient none = onCpu(output, labels, 1);
  const at::Tensor matched = byBox(none.gradient)[4 + 3].lt(0);  // where class 3 should rise
  const int64_t count = matched.sum().item<int64_t>();
  EXPECT_GT(count, 1);
  EXPECT_TRUE(matched[boxes - 4].item<bool>());
  // Background rises at three times as many boxes.
  EXPECT_EQ(byBox(none.gradient)[4].lt(0).sum().item<int64_t>(), 3 * count);
  EXPECT_NEAR(byBox(none.gradient)[4 + 3].min().item<double>(), (1.0 / classes - 1) / static_cast<double>(count), 1e-7);
  byBox(output)[0][boxes - 4] = 1.5F;
  byBox(output)[3][boxes - 4] = -0.5F;
  const LossAndGradient off = onCpu(output, labels, 1);
  const double more = (1.5 - 0.5) + 0.5 * 0.25;  // smooth L1 of 1.5 and 0.5: the box's own offsets are zero
  EXPECT_NEAR(off.loss.item<double>() - none.loss.item<double>(), more / static_cast<double>(count), 1e-5);
  EXPECT_NEAR(byBox(off.gradient)[0][boxes - 4].item<double>(), 1.0 / static_cast<double>(count), 1e-6);
  EXPECT_NEAR(byBox(off.gradient)[3][boxes - 4].item<double>(), -0.5 / static_cast<double>(count), 1e-6);
}

TEST(Multibox, EqualsLibtorchsLossesAndTheirGradients) {
  for (const at::Device device : testDevices()) {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      for (const double smoothing : {0.0, 0.1}) {
        at::manual_seed(4);
        const at::Tensor output = scores(6).to(device, type), labels = someLabels(6).to(device);
        const auto actual = multiboxLoss(output, labels, ssdDefaultBoxes().to(device), smoothing, 12);
        const auto expected = multiboxLossReference(output, labels, smoothing, 12);
        EXPECT_LT(relativeError(actual.loss, expected.loss), 1e-5);
        EXPECT_LT(relativeError(actual.gradient, expected.gradient), 1e-5 + toleranceOf(type));
        EXPECT_EQ(actual.gradient.scalar_type(), type);
        EXPECT_EQ(actual.gradient[5].abs().max().item<float>(), 0) << "no objects, no loss";
      }
    }
  }
}

// What makes every strategy and place of the loss give the same weights.
TEST(Multibox, OfAJoinedBatchIsThatOfItsParts) {
  at::manual_seed(6);
  const at::Tensor output = scores(4), labels = someLabels(4);
  const auto joined = onCpu(output, labels, 2);
  double sum = 0;
  std::vector<at::Tensor> gradients;
  for (int64_t part = 0; part < 2; ++part) {
    const auto own = onCpu(output.narrow(0, 2 * part, 2), labels.narrow(0, 2 * part, 2), 2);
    sum += own.loss.item<double>();
    gradients.push_back(own.gradient);
  }
  EXPECT_NEAR(joined.loss.item<double>(), sum / 2, 1e-5 * sum);
  EXPECT_LT(relativeError(joined.gradient, at::cat(gradients)), 1e-6);
}

thread_local std::vector<std::string> operationsCalled;

std::unique_ptr<at::ObserverContext> noteOperation(const at::RecordFunction& call) {
  operationsCalled.push_back(concat(call.name(), '.', call.overload_name()));
  return nullptr;
}

// On a GPU each would wait: for memory of the host that is copied there, or for a value that comes back.
TEST(Multibox, BringsNothingToTheDeviceAndNothingBack) {
  at::manual_seed(7);
  const at::Tensor output = scores(2), labels = someLabels(2);
  const auto heard = at::addThreadLocalCallback(at::RecordFunctionCallback(noteOperation));
  onCpu(output, labels, 2);
  at::removeCallback(heard);
  const auto isCalled = [](std::string_view name) {
    return std::find(operationsCalled.begin(), operationsCalled.end(), name) != operationsCalled.end();
  };
  EXPECT_TRUE(isCalled("aten::scatter_.src")) << "nothing was heard";
  for (const char* waits :
       {"aten::to.device", "aten::to.dtype_layout", "aten::to.other", "aten::item.", "aten::_local_scalar_dense."}) {
    EXPECT_FALSE(isCalled(waits)) << waits;
  }
}

std::string refusal(const at::Tensor& labels) {
  try {
    onCpu(scores(labels.size(0)), labels, 1);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Multibox, RefusesLabelsThatAreNoBoxes) {
  at::manual_seed(5);
  const at::Tensor good = someLabels(3);
  EXPECT_EQ(refusal(good), "accepted");
  const std::pair<int, double> wrong[] = {{0, classes}, {0, -1},  {0, 1.5}, {0, NAN},
                                          {1, 5},       {2, NAN}, {3, -1},  {4, INFINITY}};
  for (const auto& [number, value] : wrong) {
    at::Tensor labels = good.clone();
    labels[1][0][number] = value;
    EXPECT_NE(refusal(labels).find("box 0 of row 1"), std::string::npos) << number << ' ' << value << refusal(labels);
  }
}

}  // namespace
}  // namespace tandem

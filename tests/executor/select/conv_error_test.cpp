#include "executor/select/conv_error.h"

#include <gtest/gtest.h>

#include "base/catalog.h"
#include "kernels/conv/nchwc.h"

namespace tandem {
namespace {

TrialLayer layerOf(int64_t channels, int64_t groups, Padding padding, bool bias) {
  return {.node = 1,
          .attributes =
              {.outputs = 2 * channels, .kernelH = 3, .kernelW = 3, .padding = padding, .groups = groups, .bias = bias},
          .input = {channels, 12, 12},
          .output = {2 * channels, 10 + padding.top + padding.bottom, 10 + padding.left + padding.right},
          .wantsInputGradient = true,
          .normalised = false};
}

std::vector<ConvCandidate> servingIn(const char* layout, const TrialLayer& layer, at::ScalarType type) {
  std::vector<ConvCandidate> candidates;
  for (const ConvolutionAlgorithm& row : convolutionAlgorithms()) {
    const ConvCandidate candidate{&find(layouts(), layout, "layout"), &row, /*all=*/candidates.empty()};
    if (serves(candidate, layer, type)) candidates.push_back(candidate);
  }
  return candidates;
}

class ConvolutionErrors : public testing::Test {
 protected:
  void SetUp() override {
    if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  }
};

// Whatever the layout, the padding and the groups, a right result is off by roundings alone.
TEST_F(ConvolutionErrors, AreRoundingsOfEachPassThatACandidateComputes) {
  for (const auto& [type, unit] : {std::pair{at::kFloat, 1e-7}, {at::kBFloat16, 4e-3}}) {
    for (const TrialLayer& layer : {layerOf(16, 1, Padding::all(1), false), layerOf(32, 1, {0, 2, 1, 1}, true),
                                    layerOf(32, 2, Padding::all(1), true), layerOf(3, 1, Padding::all(1), false)}) {
      for (const char* layout : {"nhwc", "blocked"}) {
        const auto candidates = servingIn(layout, layer, type);
        const auto errors = convolutionErrors(layer, candidates, type);
        ASSERT_EQ(errors.size(), candidates.size());
        for (size_t i = 0; i < errors.size(); ++i) {
          for (size_t pass = 0; pass < convolutionPasses; ++pass) {
            const bool measured = candidates[i].measures(pass);
            EXPECT_EQ(errors[i][pass] > 0, measured) << candidates[i].algorithm->name << ' ' << layout << ' ' << pass;
            EXPECT_LT(errors[i][pass], 30 * unit) << candidates[i].algorithm->name << ' ' << layout << ' ' << pass;
          }
        }
      }
    }
  }
}

TEST_F(ConvolutionErrors, WinogradsAreLargerThanDirects) {
  const TrialLayer layer = layerOf(32, 1, Padding::all(1), false);
  const auto& nhwc = find(layouts(), "nhwc", "layout");
  const auto errors = convolutionErrors(layer,
                                        {{&nhwc, &find(convolutionAlgorithms(), "direct", "algorithm")},
                                         {&nhwc, &find(convolutionAlgorithms(), "winograd", "algorithm")}},
                                        at::kFloat);
  for (size_t pass = 0; pass < 2; ++pass) EXPECT_GT(errors[1][pass], 2 * errors[0][pass]) << pass;
}

TEST(AccurateEnough, IsRelativeToTheFirstOfTheLayout) {
  const auto &nhwc = layouts()[0], &other = layouts()[1];
  const auto* const row = &convolutionAlgorithms().front();
  const auto enough = accurateEnough({{1, 2, 3}, {4, 8, 13}, {10, 10, 10}, {40, 41, 0}},
                                     {{&nhwc, row}, {&nhwc, row}, {&other, row}, {&other, row}}, 4);
  EXPECT_EQ(enough,
            (std::vector<PassMarks>{{true, true, true}, {true, true, false}, {true, true, true}, {true, false, true}}));
}

}  // namespace
}  // namespace tandem

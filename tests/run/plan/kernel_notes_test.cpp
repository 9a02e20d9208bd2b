#include "run/plan/kernel_notes.h"

#include <gtest/gtest.h>

#include "base/catalog.h"

namespace tandem {
namespace {

using Notes = std::vector<std::string>;

/// Two convolutions, of which all passes but one run by direct.
class KernelNotesTest : public testing::Test {
 protected:
  KernelNotesTest() {
    graph_.add("conv", "b", {graph_.add("conv", "a", {graph_.input()}, {.outputs = 4})}, {.outputs = 4});
    const auto* const direct = &convolutionAlgorithms().front();
    kernels_.algorithms.assign(graph_.nodes().size(), {direct, direct, direct});
    kernels_.algorithms.back()[2] = &find(convolutionAlgorithms(), "gemm", "algorithm");
    measured_.jobs = 5, measured_.now = 5;
    measured_.timings["a"] = {.numbers = {1}, .spread = 0.021, .at = "2026-11-24T10:00:00.000Z"};
  }

  KernelSelection noted(double gain) {
    KernelSelection kernels = kernels_;
    addKernelNotes(kernels, graph_, {.gain = gain, .measured = &measured_, .replicas = 2, .threads = 1});
    return kernels;
  }

  Graph graph_{{3, 8, 8}};
  KernelSelection kernels_;
  Measured measured_;
};

TEST_F(KernelNotesTest, SayTheGainInOneLine) {
  const KernelSelection kernels = noted(1.344);
  EXPECT_EQ(kernels.notes, Notes{"kernels chosen by measurement for 2 replicas: 1.34x as fast as the default (tandem "
                                 "plan show)"});
  EXPECT_EQ(kernels.details,
            "convolutions run in nhwc, their passes by 4 direct, 1 gemm: 1.34 times as fast as the default; "
            "chosen for 2 replicas of 1 thread(s), measured now; a typical sample is 2.1 % above the least");
}

TEST_F(KernelNotesTest, SayNothingWhereNothingWasMeasured) {
  measured_ = {};
  EXPECT_TRUE(noted(1).notes.empty());
  EXPECT_EQ(noted(1).details, "");
}

TEST_F(KernelNotesTest, SayWhenKeptTimesAreOf) {
  measured_.now = 0;
  EXPECT_TRUE(noted(1).notes.empty()) << "the default is the fastest";
  EXPECT_NE(noted(1).details.find(", measured 2026-11-24T10:00:00.000Z and kept in the cache;"), std::string::npos);
  measured_.timings["of an earlier version"] = {.numbers = {1}};
  EXPECT_NE(noted(1).details.find(", measured before and kept in the cache;"), std::string::npos);
}

TEST_F(KernelNotesTest, SayWhatWasPostponed) {
  measured_.postponed = 3;
  EXPECT_EQ(noted(1).notes,
            Notes{"kernels: 3 of 5 measurements did not fit into the time for choosing; what they are of "
                  "runs by the default, the next run measures it"});
}

TEST_F(KernelNotesTest, SayWhatDisturbed) {
  measured_.timings["a"].keeps = false;
  EXPECT_EQ(noted(1).notes,
            Notes{"kernels were chosen by times that something disturbed; the next run measures them again"});
  measured_.disturbances = {"other programs used the run's CPUs for 12.00 % (limit 5 %)"};
  EXPECT_EQ(noted(1).notes,
            Notes{"kernels were chosen while other programs used the run's CPUs for 12.00 % (limit 5 %); "
                  "the next run measures them again"});
}

}  // namespace
}  // namespace tandem

#include <gtest/gtest.h>

#include "kernels/cudnn/plan_counts.h"
#include "kernels/cudnn/shared_plans.h"

namespace tandem {
namespace {

class NoPlans final : public ExecutionPlans {
 public:
  std::span<const std::string> names() const override { return {}; }
  std::optional<int64_t> prepare(size_t) override { return {}; }
  void run(size_t, std::span<void* const>, void*) override {}
};

TEST(SharedPlans, AreMadeOncePerProblemWhileSomebodyHoldsThem) {
  int made = 0;
  const auto plansOf = [&made](const std::string& problem) {
    return sharedPlans(problem, [&made] {
      ++made;
      return std::make_unique<NoPlans>();
    });
  };
  auto first = plansOf("a");
  EXPECT_EQ(plansOf("a"), first);
  EXPECT_EQ(made, 1);
  const auto other = plansOf("b");
  EXPECT_NE(other, first);
  first.reset();
  plansOf("a");
  EXPECT_EQ(made, 3) << "nobody held those of a";
}

TEST(SharedPlans, OfAProblemThatIsRefusedAreNone) {
  EXPECT_EQ(sharedPlans("refused", [] { return std::unique_ptr<ExecutionPlans>(); }), nullptr);
}

TEST(PlanCounts, HaveALineForEachKind) {
  PlanCounts counts;
  counts.add("convolution", 12, "");
  counts.add("convolution", 0, "no engine");
  counts.add("convolution", 0, "another reason");
  counts.add("batch-norm", 3, "");
  EXPECT_EQ(counts.take(),
            (std::vector<std::string>{
                "cuDNN: batch-norm: 3 plans for 1 problems",
                "cuDNN: convolution: 12 plans for 3 problems, none for 2 of them (the first: no engine)"}));
  EXPECT_TRUE(counts.take().empty());
}

}  // namespace
}  // namespace tandem

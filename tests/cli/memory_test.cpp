// The memory estimate beside what runs of small networks really take.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/text.h"
#include "measure/record/results_file.h"
#include "run/plan/plan.h"
#include "run_tandem.h"

namespace tandem {
namespace {

// Their code and stacks are more of a small network's memory, and differ by machine: more room than
// memory_estimate_test.cpp gives.
TEST(Memory, OfSmallNetworksIsNearTheEstimate) {
#ifdef TANDEM_SANITIZED
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  const std::string path = ownFolder() + "/memory.jsonl";
  const auto bench = [&](const char* model, int64_t batch, int64_t replicas) {
    std::filesystem::remove(path);
    const auto run = runTandem({"bench", "--repeats=1", concat("--model=", model), concat("--batch=", batch),
                                concat("--replicas=", replicas), "--cores-per-replica=1", "--oversubscribe",
                                "--steps=3", "--warmup=1", "--allow-interference", "--out=" + path});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto records = readResults(path);
    ASSERT_EQ(records.size(), 1U);
    const RunPlan plan = resolvePlan(records[0].config);
    const auto measured = static_cast<double>(records[0].peakMemoryBytes);
    EXPECT_NEAR(static_cast<double>(plan.memory.total()) / measured, 1, 0.2)
        << model << " x " << replicas << ": about " << bytesText(static_cast<double>(plan.memory.total()))
        << " estimated, " << bytesText(measured) << " measured";
  };
  bench("resnet20", 256, 1);
  bench("resnet20", 128, 2);
  bench("resnet56", 128, 1);
}

}  // namespace
}  // namespace tandem

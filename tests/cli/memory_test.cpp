// The memory estimate beside what runs of small networks really take.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "base/text.h"
#include "machine/cpu/host_facts.h"
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
                                "--steps=2", "--warmup=0", "--verify=off", "--allow-interference", "--out=" + path});
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
  bench("resnet56", 96, 1);
}

// What was free when a sweep was planned may be taken by others until a run's turn comes: here the program's own limit
// is lowered as soon as the first run has begun.
TEST(Memory, ThatIsGoneWhenARunsTurnComesFailsThatRunAlone) {
  const std::string path = ownFolder() + "/memory.jsonl";
  Tandem tandem({"bench", "--model=resnet20", "--batch=200", "--replicas=1", "--steps=2", "--warmup=0", "--repeats=2",
                 "--layout=nhwc", "--convolution=direct", "--verify=off", "--allow-interference", "--out=" + path});
  while (!tandem.ended() && tandem.worker() <= 0) usleep(1000);
  const int64_t taken = memoryField(textOf(concat("/proc/", tandem.id(), "/status")), "VmData");
  ASSERT_GT(taken, 0);
  const auto little = static_cast<rlim_t>(taken + (200 << 20));
  const rlimit limit{.rlim_cur = little, .rlim_max = little};
  ASSERT_EQ(prlimit(tandem.id(), RLIMIT_DATA, &limit, nullptr), 0);
  const auto run = tandem.wait();
  EXPECT_EQ(run.code, 2) << run.err;
  const auto records = readResults(path);
  ASSERT_EQ(records.size(), 2U) << run.err;
  EXPECT_EQ(records[0].outcome.kind, OutcomeKind::ok) << records[0].outcome.reason;
  EXPECT_EQ(records[1].outcome.kind, OutcomeKind::failed);
  EXPECT_NE(records[1].outcome.reason.find("needs about"), std::string::npos) << records[1].outcome.reason;
  ASSERT_EQ(run.errors().size(), 1U) << run.err;
}

}  // namespace
}  // namespace tandem

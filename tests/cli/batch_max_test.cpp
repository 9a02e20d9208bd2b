#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "config/config.h"
#include "machine/cpu/host_facts.h"
#include "measure/record/results_file.h"
#include "run/child/point_runner.h"
#include "run/ten_images.h"
#include "run_tandem.h"

namespace tandem {
namespace {

constexpr int64_t mib = 1 << 20;

/// On one core, so that few threads' stacks count. Nothing is measured before: each batch would choose kernels of its
/// own.
std::vector<std::string> bench(std::vector<std::string> more) {
  std::vector<std::string> arguments{"bench",         "--repeats=1",          "--model=resnet20",      "--replicas=1",
                                     "--steps=2",     "--allow-interference", "--cores-per-replica=1", "--warmup=1",
                                     "--layout=nhwc", "--convolution=direct", "--out=" + resultsPath()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// Private memory of a run of one image: what the libraries take on this machine, before images count.
int64_t bytesOfOneImage() {
  Tandem tandem(bench({"--batch=1"}));
  int64_t most = 0;
  while (!tandem.ended()) {
    const pid_t worker = tandem.worker();
    if (worker > 0) most = std::max(most, memoryField(textOf(concat("/proc/", worker, "/status")), "VmData"));
    usleep(1000);
  }
  return most;
}

/// `ulimit -d` for the programs that a test starts while it lives: their private memory, as so many bytes above
/// bytesOfOneImage().
class MemoryLimit {
 public:
  explicit MemoryLimit(int64_t room) : bytes_(own() + room) {
    getrlimit(RLIMIT_DATA, &before_);
    const rlimit limit{.rlim_cur = static_cast<rlim_t>(bytes_), .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_DATA, &limit);
  }
  ~MemoryLimit() { setrlimit(RLIMIT_DATA, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  int64_t bytes() const { return bytes_; }
  /// Measured by the first test, and with it the machine's peaks: what they need does not fit below a limit.
  static int64_t own() {
    static const int64_t bytes = bytesOfOneImage();
    return bytes;
  }

 private:
  int64_t bytes_;
  rlimit before_{};
};

class BatchMax : public testing::Test {
 protected:
  void SetUp() override {
#ifdef TANDEM_SANITIZED
    GTEST_SKIP() << "sanitizers reserve more memory than any limit";
#endif
    ASSERT_GT(MemoryLimit::own(), 0);
    std::filesystem::remove(resultsPath());
  }
};

TEST_F(BatchMax, IsTheLargestThatFitsBelowTheLimit) {
  int64_t most = 0;
  {
    const MemoryLimit limit(550 * mib);
    most = limit.bytes();
    const auto run = runTandem(bench({"--batch=max"}));
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.find("trying from"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("--batch=max is "), std::string::npos) << run.out;
  }
  auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), 1U);
  const RunRecord found = records.front();
  ASSERT_TRUE(found.batchSearch);
  const BatchSearch& search = *found.batchSearch;
  EXPECT_GT(found.config.step.batch, 20);
  EXPECT_EQ(found.globalBatch, found.config.step.batch);
  EXPECT_NE(std::ranges::find(found.notes, textOf(search, found.config.step.batch)), found.notes.end());
  EXPECT_LE(search.peakBytes, search.limitBytes);
  EXPECT_LE(search.limitBytes, search.availableBytes - 256 * mib);
  EXPECT_LE(search.availableBytes, most);
  EXPECT_GT(search.tooLarge, found.config.step.batch);
  EXPECT_LE(search.tooLarge, found.config.step.batch + std::max<int64_t>(1, found.config.step.batch / 64));
  EXPECT_GE(search.probes, 2);
  EXPECT_LE(search.probes, 16);
  EXPECT_LE(found.peakMemoryBytes, search.limitBytes + search.limitBytes / 50);

  runTandem(bench({concat("--batch=", search.tooLarge)}));
  records = readResults(resultsPath());
  ASSERT_EQ(records.size(), 2U);
  EXPECT_GE(records.back().peakMemoryBytes, search.limitBytes - search.limitBytes / 50);
}

TEST_F(BatchMax, EndsWithTheImagesOfADataSet) {
  const auto run = runTandem(bench({"--batch=max", concat("--data=", tenImages())}));
  EXPECT_EQ(run.code, 0) << run.err;
  const auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].config.step.batch, 10);
  EXPECT_EQ(records[0].batchSearch->tooLarge, 0);
  EXPECT_NE(run.out.find("no larger one: --data has 10 images"), std::string::npos) << run.out;
}

TEST_F(BatchMax, WhereNothingFitsTheRowFailsAndTheSweepGoesOn) {
  const MemoryLimit limit(200 * mib);  // less than the search keeps free
  const auto run = runTandem(bench({"--batch=max", "--accumulate=1,2"}));
  EXPECT_EQ(run.code, 2);
  const auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), 2U) << run.err;
  ASSERT_EQ(run.errors().size(), 2U) << run.err;
  for (size_t i = 0; i < 2; ++i) {
    const RunRecord& record = records[i];
    EXPECT_EQ(record.outcome.kind, OutcomeKind::failed);
    EXPECT_TRUE(record.outcome.outOfMemory);
    EXPECT_EQ(record.config.step.batch, Config::mostThatFits);
    EXPECT_NE(record.outcome.reason.find(concat("not even a batch of ", i + 1, " fits")), std::string::npos);
    EXPECT_EQ(record.batchSearch->tooLarge, static_cast<int64_t>(i + 1));
  }
}

TEST_F(BatchMax, AFailureOfAnotherKindEndsTheSearch) {
  const MemoryLimit limit(450 * mib);  // the estimate's guess fits, so the failure is the first probe's
  const auto run = runTandem(bench({"--batch=max", "--lr=1e30"}));
  EXPECT_EQ(run.code, 7) << run.err;
  ASSERT_EQ(run.errors().size(), 1U) << run.err;
  EXPECT_NE(run.errors().front().find("the search ended at a batch of"), std::string::npos) << run.err;
  EXPECT_EQ(readResults(resultsPath()).front().batchSearch->probes, 1);
}

TEST_F(BatchMax, AnInterruptEndsTheProbeAndKeepsFinishedRows) {
  const MemoryLimit limit(650 * mib);
  Tandem tandem(bench({"--batch=4,max"}));
  pid_t worker = -1;
  for (int turn = 0; turn < 6000 && worker <= 0; ++turn) {
    if (tandem.outSoFar().find("trying from") != std::string::npos) worker = tandem.worker();
    usleep(10'000);
  }
  ASSERT_GT(worker, 0);
  kill(tandem.id(), SIGINT);
  const auto run = tandem.wait();
  EXPECT_EQ(run.code, 130);
  ASSERT_FALSE(run.errors().empty());
  EXPECT_TRUE(run.errors().back().starts_with("error[interrupted]: interrupted with 1 of 2 points")) << run.err;
  EXPECT_NE(kill(worker, 0), 0) << "the probe outlived the search";
  EXPECT_EQ(run.out.find("--batch=max is "), std::string::npos) << "it went on to its end: " << run.out;
  const auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].config.step.batch, 4);
}

TEST_F(BatchMax, ADryRunTriesNothing) {
  const auto run = runForked(bench({"--batch=max", "--dry-run"}));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("is the guess of the memory estimate"), std::string::npos) << run.out;
  EXPECT_FALSE(std::filesystem::exists(resultsPath()));
}

TEST_F(BatchMax, PredictAndFeaturesTakeANumber) {
  for (const char* command : {"predict", "features"}) {
    const auto run = runForked({command, "--batch=max", "--weights=a.pth", "a.jpg"});
    EXPECT_EQ(run.code, 2);
    EXPECT_NE(run.err.find("takes a number of images"), std::string::npos) << run.err;
  }
}

// The estimate would have refused it: here the allocator does.
TEST_F(BatchMax, AnAllocationThatIsRefusedIsOneLine) {
  Config config;
  config.network.model = concat("resnet20"), config.step.batch = 2000, config.placement.coresPerReplica = 1;
  config.measurement.warmup = concat("0"), config.measurement.steps = 3;
  const MemoryLimit limit(450 * mib);
  const auto record = PointRunner(TANDEM_BINARY_DIR "/tandem").run(config, {.deadlineSeconds = 60}, {});
  EXPECT_EQ(record.outcome.kind, OutcomeKind::failed);
  EXPECT_EQ(record.outcome.code, ExitCode::usage);
  EXPECT_TRUE(record.outcome.outOfMemory);
  const std::string& reason = record.outcome.reason;
  EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
  for (const char* part :
       {"the system refused", " bytes (", " are left", "lower --batch", "--recompute", "--batch=max"}) {
    EXPECT_NE(reason.find(part), std::string::npos) << part << " in " << reason;
  }
}

}  // namespace
}  // namespace tandem

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "autotune/timing_cache.h"
#include "kernels/conv/convolution.h"
#include "machine/cpu/topology.h"
#include "measure/record/results_file.h"
#include "run_tandem.h"

namespace tandem {
namespace {

/// A few steps of a network of two convolutions, by one and by two replicas.
std::vector<std::string> sweep(std::vector<std::string> more) {
  std::vector<std::string> arguments{
      "bench",      "--model=lenet5", "--batch=4",       "--replicas=1,2",       "--steps=2",
      "--warmup=1", "--repeats=1",    "--oversubscribe", "--allow-interference", "--out=" + resultsPath()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string contentOf(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Lines of the cache that say how long kernels take.
int64_t measurements(const std::string& cache) {
  int64_t count = 0;
  std::istringstream lines(cache);
  for (std::string line; std::getline(lines, line);) count += line.starts_with("convolution | ") ? 1 : 0;
  return count;
}

/// A cache of its own, that knows no kernels, and of the machine what the tests' cache knows.
class KernelChoiceCli : public testing::Test {
 protected:
  void SetUp() override {
    if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN chooses no kernels";
    std::filesystem::create_directories(ownFolder() + "/cache");
    std::ofstream own(ownFolder() + "/cache/measured.tsv");
    std::ifstream lines(timingCacheFile());
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("peak | ")) own << line << '\n';
    }
  }
  Finished run(const std::vector<std::string>& more = {}) const {
    return runTandem(sweep(more), {{"TANDEM_CACHE", ownFolder() + "/cache"}});
  }
  std::string cache() const { return contentOf(ownFolder() + "/cache/measured.tsv"); }
};

TEST_F(KernelChoiceCli, IsOneForAllPointsThatDifferInReplicas) {
  if (readTopology().cores.size() < 2) GTEST_SKIP() << "two replicas need two cores";
  ASSERT_EQ(run().code, 0);
  const auto records = readResults(resultsPath());
  ASSERT_GE(records.size(), 2U);
  for (const RunRecord& record : records) {
    EXPECT_NE(record.placement.kernels.find("; chosen for 2 replicas of 1 thread(s), "), std::string::npos)
        << record.placement.kernels;
    EXPECT_EQ(record.placement.layout, records.front().placement.layout);
    EXPECT_EQ(record.placement.convolutionPasses, records.front().placement.convolutionPasses);
  }
}

TEST_F(KernelChoiceCli, IsKeptAndMadeAnewOnRequest) {
  ASSERT_EQ(run().code, 0);
  const int64_t all = measurements(cache());
  EXPECT_GT(all, 0);
  EXPECT_NE(cache().find("\tat="), std::string::npos);
  if (cache().find("keeps=no") != std::string::npos) GTEST_SKIP() << "this machine is busy";
  ASSERT_EQ(run().code, 0);
  EXPECT_EQ(measurements(cache()), all) << "it was kept";
  const auto anew = run({"--refresh-kernels"});
  ASSERT_EQ(anew.code, 0) << anew.err;
  EXPECT_EQ(measurements(cache()), 2 * all) << "once for the sweep";
}

}  // namespace
}  // namespace tandem

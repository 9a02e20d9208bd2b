#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "measure/record/results_file.h"
#include "run_tandem.h"
#include "support/contains.h"

namespace tandem {
namespace {

std::vector<std::string> profile(std::vector<std::string> more) {
  std::vector<std::string> arguments{"bench",     "--model=trivial", "--image-size=32",        "--batch=4",
                                     "--steps=8", "--warmup=1",      "--oversubscribe",        "--allow-interference",
                                     "--profile", "--replicas=2",    "--out=" + resultsPath(), "--classes=10"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Profile, IsShownStoredAndReported) {
  const std::string trace = ownFolder() + "/run.pftrace";
  const auto run = runTandem(profile({"--trace=" + trace}));
  ASSERT_EQ(run.code, 0) << run.err;
  for (const auto& part : {"The step taken apart", "backward", "the step of all replicas", "straggler",
                           "throughput is measured without --profile", "Work per step"}) {
    EXPECT_TRUE(contains(run.out, part)) << part << '\n' << run.out;
  }
  EXPECT_GT(std::filesystem::file_size(trace), 1000U);
  const auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), 1U);
  ASSERT_TRUE(records[0].profile);
  EXPECT_EQ(records[0].profile->replicas.size(), 2U);
  const auto report = runForked({"report", resultsPath(), "--format=md"});
  EXPECT_TRUE(contains(report.out, "## The step taken apart: row 1")) << report.out;
}

TEST(Profile, LeavesStandardOutputToFormatsForPrograms) {
  for (const char* format : {"json", "csv"}) {
    const auto run = runTandem(profile({std::string("--format=") + format}));
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_FALSE(contains(run.out, "taken apart")) << run.out;
    EXPECT_TRUE(contains(run.err, "The step taken apart")) << run.err;
    EXPECT_EQ(nlohmann::json::accept(run.out), format == std::string("json")) << run.out;
  }
}

TEST(Profile, ATraceThatCannotBeWrittenIsAFailedRow) {
  const auto run = runTandem(profile({"--trace=/no/such/folder/run.pftrace"}));
  EXPECT_EQ(run.code, 8);
  ASSERT_EQ(run.errors().size(), 1U) << run.err;
  EXPECT_TRUE(contains(run.errors().front(), "/no/such/folder/run.pftrace")) << run.err;
}

}  // namespace
}  // namespace tandem

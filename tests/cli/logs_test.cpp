#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "measure/record/results_file.h"
#include "run_tandem.h"
#include "support/contains.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

/// Runs of a second or two, one for each batch.
std::vector<std::string> bench(const std::string& batches, std::vector<std::string> more) {
  std::vector<std::string> arguments{
      "bench",       "--repeats=1",  "--model=trivial",        "--image-size=32",    "--warmup=2",
      "--steps=6",   "--replicas=1", "--out=" + resultsPath(), "--batch=" + batches, "--classes=10",
      "--verify=off"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<RunRecord> stored() { return readResults(resultsPath()); }

std::string contentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> filesBelow(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

TEST(Logs, EachPointHasItsEventsAndItsLines) {
  const std::string folder = ownFolder();
  const auto run = runTandem(
      bench("4,8", {"--allow-interference", "--tensorboard=" + folder + "/tb", "--mllog=" + folder + "/log"}));
  ASSERT_EQ(run.code, 0) << run.err;
  const auto files = filesBelow(folder + "/tb");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].parent_path().parent_path().filename(), "batch=4");
  EXPECT_EQ(files[1].parent_path().parent_path().filename(), "batch=8");
  EXPECT_EQ(files[0].parent_path().filename(), stored().front().time);
  const std::string log = contentOf(folder + "/log");
  EXPECT_TRUE(contains(log, R"("key":"global_batch_size","value":4)")) << log;
  EXPECT_TRUE(contains(log, R"("key":"global_batch_size","value":8)")) << log;
}

TEST(Logs, LinesMayGoToStandardOutputUnlessProgramsReadThat) {
  const auto run = runTandem(bench("4,8", {"--allow-interference", "--mllog=-"}));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "\n:::MLLOG {")) << run.out;
  const auto refused = runForked(bench("4,8", {"--mllog=-", "--format=json"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "--mllog=- with --format=json")) << refused.err;
}

TEST(Logs, AnUnwritablePlaceIsFoundBeforeAnythingRuns) {
  const std::string file = ownFolder() + "/file";
  std::ofstream(file) << "in the way";
  for (const std::string& option : {"--tensorboard=" + file, "--mllog=" + file + "/log"}) {
    const auto run = runForked(bench("4,8", {option}));
    EXPECT_EQ(run.code, 8) << option;
    EXPECT_EQ(run.errors().size(), 1u) << run.err;
    EXPECT_TRUE(contains(run.err, file)) << run.err;
    EXPECT_FALSE(contains(run.out, "[1/2]")) << run.out;
  }
}

TEST(Peaks, AreMeasuredOnceAndStandInTheRecordAndTheReport) {
#ifdef TANDEM_SANITIZED
  GTEST_SKIP() << "a sanitized build knows no peaks";
#endif
  const std::map<std::string, std::string> cache{{"TANDEM_CACHE", ownFolder() + "/cache"}};
  const auto run = runTandem(bench("4", {"--allow-interference"}), cache);
  ASSERT_EQ(run.code, 0) << run.err;
  if (contains(run.err, "is unknown, the next run")) GTEST_SKIP() << "this machine is busy: " << run.err;
  const RunRecord record = stored().back();
  EXPECT_GT(record.bytesPeak, 1e8);
  EXPECT_GT(record.placement.flopsPerImage, 0);
  EXPECT_GT(record.placement.bytesPerStep, 0);
  const auto report = runForked({"report", resultsPath()});
  EXPECT_TRUE(contains(report.out, "Ceilings of the machine")) << report.out;
  const std::string kept = contentOf(ownFolder() + "/cache/measured.tsv");
  EXPECT_TRUE(contains(kept, "peak | ") && contains(kept, "| copy\t")) << kept;

  runTandem(bench("4", {"--allow-interference"}), cache);
  EXPECT_EQ(contentOf(ownFolder() + "/cache/measured.tsv"), kept);
  EXPECT_EQ(stored().back().bytesPeak, record.bytesPeak);
  const auto anew = runTandem(bench("4", {"--allow-interference", "--measure-peaks"}), cache);
  if (contains(anew.err, "is unknown, the next run")) GTEST_SKIP() << "this machine is busy: " << anew.err;
  EXPECT_GT(contentOf(ownFolder() + "/cache/measured.tsv").size(), kept.size());
}

TEST(Peaks, TheHiddenCommandTakesHardwareThreads) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"peaks"}, {"peaks", "copy"}, {"peaks", "copy", "-1"}, {"peaks", "copy", "x"}, {"peaks", "int8", "0"}}) {
    const auto run = runForked(arguments);
    EXPECT_EQ(run.code, 2) << run.err;
    EXPECT_EQ(run.errors().size(), 1u) << run.err;
  }
}

TEST(Guards, CodePutBeforeTheProgramsIsNotValid) {
#ifdef TANDEM_SANITIZED
  GTEST_SKIP() << "the sanitizer's own library must come first";
#endif
  const auto run = runTandem(bench("4", {}), {{"LD_PRELOAD", "libm.so.6"}});
  EXPECT_EQ(run.code, 9) << run.err;
  EXPECT_TRUE(contains(run.err, "injected code: LD_PRELOAD=libm.so.6")) << run.err;
  EXPECT_TRUE(contains(run.out, "no point to judge")) << run.out;
  EXPECT_EQ(stored().size(), 2u) << "a run that is disturbed is made again, once in a round";
}

}  // namespace
}  // namespace tandem

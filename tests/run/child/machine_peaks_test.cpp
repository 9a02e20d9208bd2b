#include "run/child/machine_peaks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/text.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

/// A cache folder of its own, and beside it a program that is a shell script; descriptor 3 is where it reports.
class MachinePeaksTest : public testing::Test {
 protected:
  MachinePeaksTest() {
    folder_ = fs::path(testing::TempDir()) /
              concat("machine_peaks_", testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    const char* const before = std::getenv("TANDEM_CACHE");
    if (before != nullptr) before_ = before;
    setenv("TANDEM_CACHE", folder_.c_str(), 1);
  }
  ~MachinePeaksTest() override {
    before_.empty() ? unsetenv("TANDEM_CACHE") : setenv("TANDEM_CACHE", before_.c_str(), 1);
    fs::remove_all(folder_);
  }

  /// Notes what it is asked for, then runs `body`.
  std::string program(const std::string& body) const {
    const fs::path path = folder_ / "program";
    std::ofstream(path) << "#!/bin/sh\necho \"$@\" >> '" << (folder_ / "asked").string() << "'\n" << body << '\n';
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  std::string asked() const {
    std::ifstream file(folder_ / "asked");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path folder_;
  std::string before_;
};

RunPlan onCores(std::vector<std::vector<int>> threads, const std::string& precision) {
  RunPlan plan;
  plan.config.numerics.precision = precision;
  plan.cores.threadsOf = std::move(threads);
  plan.cores.unit = "core";
  return plan;
}

const std::string answers = "case \"$2\" in copy) echo 4e10 1 >&3;; bf16) echo 9e11 1 >&3;; *) echo 5e11 1 >&3;; esac";

TEST_F(MachinePeaksTest, AreMeasuredOnAllCoresOfARunAndKept) {
  MachinePeaks peaks(program(answers), false);
  const PeakRates rates = peaks.of(onCores({{0, 1}, {2, 3}}, "bf16"));
  EXPECT_EQ(rates.flops, 9e11);
  EXPECT_EQ(rates.bytes, 4e10);
  EXPECT_EQ(asked(), "peaks bf16 0 1 2 3\npeaks copy 0 1 2 3\n");
  EXPECT_EQ(MachinePeaks(program(answers), false).of(onCores({{4, 5, 6, 7}}, "bf16")).flops, 9e11) << "as many cores";
  EXPECT_EQ(asked(), "peaks bf16 0 1 2 3\npeaks copy 0 1 2 3\n");
  peaks.of(onCores({{0}}, "fp32"));
  EXPECT_EQ(asked(), "peaks bf16 0 1 2 3\npeaks copy 0 1 2 3\npeaks fp32 0\npeaks copy 0\n");
}

TEST_F(MachinePeaksTest, ReplicasOnTheSameCoresHaveThemOnce) {
  MachinePeaks(program(answers), false).of(onCores({{0, 1}, {0, 1}}, "fp32"));
  EXPECT_EQ(asked(), "peaks fp32 0 1\npeaks copy 0 1\n");
}

TEST_F(MachinePeaksTest, AnewIsOnceByThisObject) {
  const RunPlan plan = onCores({{0}}, "fp32");
  MachinePeaks(program("echo 1e9 1 >&3"), false).of(plan);
  MachinePeaks anew(program("echo 2e9 0.9 >&3"), true);
  EXPECT_EQ(anew.of(plan).flops, 2e9);
  EXPECT_EQ(anew.of(plan).flops, 2e9);
  EXPECT_EQ(split(asked(), "\n").size() - 1, 4u);
  EXPECT_EQ(MachinePeaks(program("exit 1"), false).of(plan).flops, 2e9) << "the last one counts";
}

TEST_F(MachinePeaksTest, WhatCannotBeMeasuredIsUnknownAndNotKept) {
  const RunPlan plan = onCores({{0}}, "fp32");
  for (const char* body : {"exit 1", "echo fast 1 >&3", "echo 5e11 >&3", "echo 5e11 1 >&3; exit 70", "kill -9 $$",
                           "printf '5e11 1' >&3", "echo 5e11 0.8 >&3"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(MachinePeaks(program(body), false).of(plan).flops, 0) << body;
    EXPECT_NE(testing::internal::GetCapturedStderr().find("(fp32) is unknown"), std::string::npos) << body;
  }
  EXPECT_FALSE(fs::exists(folder_ / "measured.tsv"));
}

TEST_F(MachinePeaksTest, APeakBesideOtherProgramsIsNone) {
  testing::internal::CaptureStderr();
  MachinePeaks(program("echo 5e11 0.6 >&3"), false).of(onCores({{0}}, "fp32"));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("other programs had 40 % of the cores"), std::string::npos);
}

TEST_F(MachinePeaksTest, OfGpusNothingIsKnown) {
  RunPlan plan = onCores({}, "fp32");
  plan.cudaDevices = {0};
  EXPECT_EQ(MachinePeaks(program(answers), false).of(plan).bytes, 0);
  EXPECT_EQ(asked(), "");
}

}  // namespace
}  // namespace tandem

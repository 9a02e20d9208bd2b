#include "run/child/machine_peaks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "support/captured_warnings.h"

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
  MachinePeaks measuring(const std::string& body, bool anew = false) const {
    return MachinePeaks(program(body), anew, /*pause=*/0);
  }
  std::string asked() const {
    std::ifstream file(folder_ / "asked");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// The key of a peak in the cache.
  std::string keyOfPeak(const std::string& peak) const {
    std::ifstream file(folder_ / "measured.tsv");
    for (std::string line; std::getline(file, line);) {
      std::string key = line.substr(0, line.find('\t'));
      if (key.ends_with("| " + peak)) return key;
    }
    return "";
  }

  fs::path folder_;
  std::string before_;
};

RunPlan onCores(std::vector<std::vector<int>> threads, const std::string& precision) {
  RunPlan plan;
  plan.config.numerics.precision = precision;
  plan.hostCores.threadsOf = std::move(threads);
  plan.cores.unit = "core";
  return plan;
}

/// What is asked for in two rounds.
std::string twice(const std::string& round) { return round + round; }

const std::string answers = "case \"$2\" in copy) echo 4e10 1 >&3;; bf16) echo 9e11 1 >&3;; *) echo 5e11 1 >&3;; esac";

TEST_F(MachinePeaksTest, AreMeasuredOnAllCoresOfARunAndKept) {
  MachinePeaks peaks = measuring(answers);
  const PeakRates rates = peaks.of(onCores({{0, 1}, {2, 3}}, "bf16"));
  EXPECT_EQ(rates.flops, 9e11);
  EXPECT_EQ(rates.bytes, 4e10);
  EXPECT_EQ(asked(), twice("peaks bf16 0 1 2 3\npeaks copy 0 1 2 3\n"));
  EXPECT_EQ(measuring(answers).of(onCores({{4, 5, 6, 7}}, "bf16")).flops, 9e11) << "as many cores";
  EXPECT_EQ(asked(), twice("peaks bf16 0 1 2 3\npeaks copy 0 1 2 3\n"));
  peaks.of(onCores({{0}}, "fp32"));
  EXPECT_EQ(asked(), twice("peaks bf16 0 1 2 3\npeaks copy 0 1 2 3\n") + twice("peaks fp32 0\npeaks copy 0\n"));
}

/// A program whose answers come one after the other, of each peak for itself; the last stands from then on.
std::string inTurn(const std::vector<std::string>& rates) {
  std::string body = "n=$(grep -c \"peaks $2\" \"$(dirname \"$0\")/asked\")\ncase $n in ";
  for (size_t i = 0; i < rates.size(); ++i) {
    body += concat(i + 1 == rates.size() ? "*" : concat(i + 1), ") echo ", rates[i], " 1 >&3;; ");
  }
  return body + "esac";
}

TEST_F(MachinePeaksTest, TwoThatDifferByMoreThanATenthAreMeasuredAgain) {
  const RunPlan plan = onCores({{0}}, "fp32");
  EXPECT_EQ(measuring(inTurn({"5e11", "9e11", "8.5e11"})).of(plan).flops, 9e11);
  EXPECT_EQ(split(asked(), "\n").size() - 1, 6u) << "three rounds of two peaks";
  const Timing kept = *TimingCache(folder_ / "measured.tsv").timing(keyOfPeak("fp32"));
  EXPECT_NEAR(kept.spread, 1 - 8.5 / 9, 1e-6);
  EXPECT_EQ(kept.at.size(), std::string("2026-01-31T12:00:00.250Z").size());
  fs::remove(folder_ / "asked");
  EXPECT_EQ(measuring(inTurn({"9e11", "8.2e11"}), true).of(plan).flops, 9e11) << "within a tenth";
}

TEST_F(MachinePeaksTest, WhereNoTwoAgreeThePeakIsUnknown) {
  const CapturedWarnings warnings;
  const PeakRates rates = measuring(inTurn({"1e11", "2e11", "3e11", "5e11"})).of(onCores({{0}}, "fp32"));
  EXPECT_NE(warnings.text().find("of 4 measurements no two"), std::string::npos);
  EXPECT_EQ(rates.flops, 0);
  EXPECT_FALSE(fs::exists(folder_ / "measured.tsv"));
}

// A cache may hold anything.
TEST_F(MachinePeaksTest, APeakThatCannotBeTrueIsMeasuredAnew) {
  const RunPlan plan = onCores({{0}}, "fp32");
  measuring("echo 5e11 1 >&3").of(plan);
  for (const double kept : {-1.0, 1.0, 1e308}) {
    TimingCache(timingCacheFile()).add(keyOfPeak("fp32"), {.numbers = {kept}, .at = "2026-11-24T10:00:00.000Z"});
    EXPECT_EQ(measuring("echo 5e11 1 >&3").of(plan).flops, 5e11) << kept;
  }
}

// It stands for one measurement, at an unknown time.
TEST_F(MachinePeaksTest, APeakWithoutADateIsMeasuredAgain) {
  const RunPlan plan = onCores({{0}}, "fp32");
  measuring("echo 1e9 1 >&3").of(plan);
  const std::string key = keyOfPeak("fp32");
  TimingCache(folder_ / "measured.tsv").add(key, {7e9});
  EXPECT_EQ(measuring("echo 1e9 1 >&3").of(plan).flops, 1e9);
  EXPECT_EQ(TimingCache(folder_ / "measured.tsv").find(key), std::vector<double>{1e9});
}

TEST_F(MachinePeaksTest, ReplicasOnTheSameCoresHaveThemOnce) {
  measuring(answers).of(onCores({{0, 1}, {0, 1}}, "fp32"));
  EXPECT_EQ(asked(), twice("peaks fp32 0 1\npeaks copy 0 1\n"));
}

TEST_F(MachinePeaksTest, AnewIsOnceByThisObject) {
  const RunPlan plan = onCores({{0}}, "fp32");
  measuring("echo 1e9 1 >&3").of(plan);
  MachinePeaks anew = measuring("echo 2e9 0.9 >&3", true);
  EXPECT_EQ(anew.of(plan).flops, 2e9);
  EXPECT_EQ(anew.of(plan).flops, 2e9);
  EXPECT_EQ(split(asked(), "\n").size() - 1, 8u);
  EXPECT_EQ(measuring("exit 1").of(plan).flops, 2e9) << "the last one counts";
}

TEST_F(MachinePeaksTest, WhatCannotBeMeasuredIsUnknownAndNotKept) {
  const RunPlan plan = onCores({{0}}, "fp32");
  for (const char* body : {"exit 1", "echo fast 1 >&3", "echo 5e11 >&3", "echo 5e11 1 >&3; exit 70", "kill -9 $$",
                           "printf '5e11 1' >&3", "echo 5e11 0.8 >&3"}) {
    const CapturedWarnings warnings;
    EXPECT_EQ(measuring(body).of(plan).flops, 0) << body;
    EXPECT_NE(warnings.text().find("(fp32) is unknown"), std::string::npos) << body;
  }
  EXPECT_FALSE(fs::exists(folder_ / "measured.tsv"));
}

TEST_F(MachinePeaksTest, APeakBesideOtherProgramsIsNone) {
  testing::internal::CaptureStderr();
  measuring("echo 5e11 0.6 >&3").of(onCores({{0}}, "fp32"));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("other programs had 40 % of the cores"), std::string::npos);
}

TEST_F(MachinePeaksTest, OfGpusNothingIsKnown) {
  RunPlan plan = onCores({}, "fp32");
  plan.cudaDevices = {0};
  EXPECT_EQ(measuring(answers).of(plan).bytes, 0);
  EXPECT_EQ(asked(), "");
}

}  // namespace
}  // namespace tandem

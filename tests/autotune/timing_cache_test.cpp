#include "autotune/timing_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/text.h"
#include "support/captured_warnings.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

class MeasuredCacheTest : public testing::Test {
 protected:
  MeasuredCacheTest() : folder_(fs::temp_directory_path() / concat("tandem-cache-", getpid())) {}
  ~MeasuredCacheTest() override { fs::remove_all(folder_); }
  fs::path file() const { return folder_ / "below" / "measured.tsv"; }

  fs::path folder_;
};

TEST_F(MeasuredCacheTest, KeepsNumbersFromRunToRun) {
  TimingCache first(file());
  EXPECT_FALSE(first.find("a | b").has_value());
  first.add("a | b", {0.125, 3e-9});
  EXPECT_EQ(first.find("a | b"), (std::vector<double>{0.125, 3e-9}));
  TimingCache second(file());
  second.add("other", {1});
  const TimingCache third(file());
  EXPECT_EQ(third.find("a | b"), (std::vector<double>{0.125, 3e-9}));
  EXPECT_EQ(third.find("other"), std::vector<double>{1});
  EXPECT_EQ(third.damaged(), 0);
}

TEST_F(MeasuredCacheTest, TheLastNumbersOfAKeyCount) {
  TimingCache cache(file());
  cache.add("a", {1});
  cache.add("a", {2});
  EXPECT_EQ(TimingCache(file()).find("a"), std::vector<double>{2});
}

TEST_F(MeasuredCacheTest, KeepsWhatIsKnownOfAMeasurement) {
  const Timing timing{.numbers = {0.125, 3}, .spread = 0.02, .at = "2026-11-24T22:10:00.123Z", .keeps = false};
  TimingCache(file()).add("a | b", timing);
  TimingCache(file()).add("undated", Timing{.numbers = {7}, .keeps = false});
  const TimingCache cache(file());
  EXPECT_EQ(cache.damaged(), 0);
  EXPECT_EQ(cache.timing("a | b"), timing);
  EXPECT_EQ(cache.timing("undated"), (Timing{.numbers = {7}, .keeps = false}));
}

TEST_F(MeasuredCacheTest, ALaterVersionMayAddWords) {
  TimingCache(file()).add("a", {1});
  std::ofstream(file(), std::ios::app) << "b\t 2\tat=2027-01-01T00:00:00.000Z cores=hot spread=0.5 keeps=yes\n";
  const TimingCache cache(file());
  EXPECT_EQ(cache.damaged(), 0);
  EXPECT_EQ(cache.timing("b"), (Timing{.numbers = {2}, .spread = 0.5, .at = "2027-01-01T00:00:00.000Z"}));
}

TEST_F(MeasuredCacheTest, DamagedLinesDoNotCount) {
  TimingCache(file()).add("good", {5});
  std::ofstream(file(), std::ios::app) << "no tab\nempty\t\nwords\t 1 two\n\x01\x02\xff\ncut\t 1 2";
  const TimingCache cache(file());
  EXPECT_EQ(cache.find("good"), std::vector<double>{5});
  for (const char* key : {"no tab", "empty", "words", "cut"}) EXPECT_FALSE(cache.find(key).has_value()) << key;
  EXPECT_EQ(cache.damaged(), 5);
}

TEST_F(MeasuredCacheTest, WhatIsNoFileIsNamedOnce) {
  fs::create_directories(file().parent_path());
  const auto isRefused = [](const fs::path& file) {
    const CapturedWarnings warnings;
    TimingCache cache(file);
    cache.add("a", {1});
    cache.add("b", {2});
    const std::string said = warnings.text();
    fs::remove(file);
    return cache.find("a").has_value() && std::ranges::count(said, '\n') == 1 &&
           said.find(file.string()) != std::string::npos;
  };
  const fs::path fifo = file().string() + ".fifo", folder = file().string() + ".folder";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_TRUE(isRefused(fifo)) << "its reader would wait for ever";
  fs::create_directory(folder);
  EXPECT_TRUE(isRefused(folder));
  fs::create_symlink(file(), file());
  EXPECT_TRUE(isRefused(file())) << "a link to itself";
}

TEST_F(MeasuredCacheTest, WithoutAFileItKeepsNumbersInMemoryOnly) {
  TimingCache nowhere{fs::path()};
  nowhere.add("a", {1});
  EXPECT_EQ(nowhere.find("a"), std::vector<double>{1});
  TimingCache unwritable("/proc/no/such/place");
  unwritable.add("a", {1});
  EXPECT_EQ(unwritable.find("a"), std::vector<double>{1});
}

TEST(CacheFolder, FollowsTheVariables) {
  const auto set = [](const char* name, const char* value) { setenv(name, value, 1); };
  set("HOME", "/h"), set("XDG_CACHE_HOME", "/x"), set("TANDEM_CACHE", "/t");
  EXPECT_EQ(cacheFolder(), "/t");
  set("TANDEM_CACHE", "");
  EXPECT_EQ(cacheFolder(), "/x/tandem");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(cacheFolder(), "/h/.cache/tandem");
  unsetenv("HOME");
  EXPECT_EQ(cacheFolder(), "");
}

TEST(TimingCacheOf010, IsRead) {
  const std::string file = testsFolder() + "/autotune/0.1.0/measured.tsv";
  const TimingCache cache(file);
  EXPECT_EQ(cache.damaged(), 0);
  std::ifstream lines(file);
  int64_t found = 0;
  for (std::string line; std::getline(lines, line);) found += cache.find(line.substr(0, line.find('\t'))) ? 1 : 0;
  EXPECT_EQ(found, 6);
  const std::string norm = "batch_norm | ";
  std::ifstream again(file);
  for (std::string line; std::getline(again, line);) {
    const Timing timing = *cache.timing(line.substr(0, line.find('\t')));
    EXPECT_TRUE(timing.keeps && timing.at.empty()) << line;
    EXPECT_EQ(timing.numbers.size(), line.starts_with(norm) ? 1U : 6U) << line;
  }
}

}  // namespace
}  // namespace tandem

#include "measure/record/results_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <sstream>
#include <thread>

#include "base/text.h"
#include "measure/record_example.h"
#include "support/captured_warnings.h"
#include "support/tests_folder.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

class ResultsFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "tandem-results-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = name + "/results.jsonl";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string content() const {
    std::ifstream file(path_);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }

  std::string folder_, path_;
};

RunRecord named(const std::string& name) {
  RunRecord record = exampleRecord(1, "replicated", 10);
  record.time = name;
  return record;
}

/// Whether `text` holds all of `parts`.
::testing::AssertionResult holds(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (text.find(part) == std::string::npos) return ::testing::AssertionFailure() << "'" << text << "' lacks " << part;
  }
  return ::testing::AssertionSuccess();
}

TEST_F(ResultsFileTest, ReadsBackWhatWasAppendedByTwoOpenings) {
  ResultsFile(path_).append(fullRecord());
  ResultsFile(path_).append(named("second"));
  const auto records = readResults(path_);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_TRUE(records[0] == fullRecord());
  EXPECT_EQ(records[1].time, "second");
}

TEST_F(ResultsFileTest, ProcessesAndThreadsAppendWholeLines) {
  const auto append = [this](const std::string& writer, int count) {
    ResultsFile file(path_);
    for (int i = 0; i < count; ++i) file.append(named(writer + std::to_string(i)));
  };
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    append("process", 1000);
    _exit(0);
  }
  std::thread one([&] { append("one", 500); }), two([&] { append("two", 500); });
  one.join();
  two.join();
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::set<std::string> seen;
  for (const RunRecord& record : readResults(path_)) seen.insert(record.time);
  EXPECT_EQ(seen.size(), 2000u);
}

/// Appends records without end and tells of each that is stored.
void appendForEver(const std::string& path, int acknowledgements) {
  ResultsFile file(path);
  for (int i = 0;; ++i) {
    file.append(named(std::to_string(i)));
    if (write(acknowledgements, ".", 1) != 1) _exit(1);
  }
}

TEST_F(ResultsFileTest, KilledAtAnyMomentItLosesNothingThatWasStored) {
  size_t stored = 0;
  for (int kill = 0; kill < 25; ++kill) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) appendForEver(path_, ends[1]);
    close(ends[1]);
    char mark = 0;
    for (int i = 0; i <= kill % 5; ++i) ASSERT_EQ(read(ends[0], &mark, 1), 1);
    std::this_thread::sleep_for(std::chrono::microseconds(137 * kill));
    ::kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    stored += static_cast<size_t>(kill % 5) + 1;
    while (read(ends[0], &mark, 1) == 1) ++stored;
    close(ends[0]);
    ASSERT_GE(readResults(path_).size(), stored) << kill;
  }
}

TEST_F(ResultsFileTest, StrangeAndLongTextsStayOneLine) {
  RunRecord record = named("</script>\n\r\u2028\"");
  record.notes = {std::string(10 << 20, 'x')};
  record.losses = {std::numeric_limits<double>::quiet_NaN()};
  ResultsFile(path_).append(record);
  ResultsFile(path_).append(named("second"));
  const auto records = readResults(path_);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].time, record.time);
  EXPECT_EQ(records[0].notes, record.notes);
  EXPECT_TRUE(std::isnan(records[0].losses.front()));
  EXPECT_NE(content().find("\"losses\":[null]"), std::string::npos);
}

TEST_F(ResultsFileTest, ATornLastLineIsNamedAndAWholeOneWithoutItsEndIsRead) {
  ResultsFile(path_).append(named("first"));
  const std::string line = content();
  write(line.substr(0, line.size() - 1));
  EXPECT_EQ(readResults(path_).size(), 2u);
  std::filesystem::resize_file(path_, 2 * line.size() - 3);
  const CapturedWarnings warnings;
  EXPECT_EQ(readResults(path_).size(), 1u);
  EXPECT_TRUE(holds(warnings.text(), {path_, "line 2 is torn"}));
}

TEST_F(ResultsFileTest, AnUnwritablePlaceIsFoundWhenOpening) {
  const std::string missing = textOfFailure<StorageError>([&] { ResultsFile(folder_ + "/none/results.jsonl"); });
  EXPECT_TRUE(holds(missing, {folder_ + "/none/results.jsonl", "No such file", "free there", "--out"}));
  EXPECT_TRUE(holds(textOfFailure<StorageError>([&] { ResultsFile file(folder_); }), {folder_, "Is a directory"}));
}

TEST_F(ResultsFileTest, AReadOnlyPlaceIsFoundWhenOpening) {
  const std::string place = geteuid() == 0 ? "/proc/self" : folder_;  // root writes anywhere else
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const std::string text = textOfFailure<StorageError>([&] { ResultsFile(place + "/results.jsonl"); });
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  EXPECT_TRUE(holds(text, {place + "/results.jsonl", "cannot open it for writing"}));
}

TEST_F(ResultsFileTest, AFullDiskIsAStorageError) {
  ResultsFile file("/dev/full");
  const std::string text = textOfFailure<StorageError>([&] { file.append(named("x")); });
  EXPECT_TRUE(holds(text, {"/dev/full", "No space left", "free there"}));
}

TEST_F(ResultsFileTest, AShortWriteIsCutOffAgain) {
  ResultsFile file(path_);
  file.append(named("first"));
  const std::string before = content();
  struct rlimit old {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit tight { before.size() + 100, old.rlim_max };
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const std::string text = textOfFailure<StorageError>([&] { file.append(named("second")); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, oldHandler);
  EXPECT_TRUE(holds(text, {path_, "only 100 of", "free there"}));
  EXPECT_EQ(content(), before);
  file.append(named("third"));
  EXPECT_EQ(readResults(path_).back().time, "third");
}

TEST_F(ResultsFileTest, ATornLastLineIsIgnoredAndReplacedByTheNextAppend) {
  ResultsFile(path_).append(named("first"));
  write(R"({"config":{"batch":)");
  EXPECT_EQ(readResults(path_).size(), 1u);
  ResultsFile(path_).append(named("second"));
  const auto records = readResults(path_);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].time, "second");
}

TEST_F(ResultsFileTest, WhatIsLeftOfATornLineIsSetAside) {
  ResultsFile(path_).append(named("first"));
  write(R"({"config":{"batch":)");
  ResultsFile(path_).append(named("second"));
  std::ifstream aside(path_ + ".torn");
  std::string torn;
  ASSERT_TRUE(std::getline(aside, torn));
  EXPECT_EQ(torn, R"({"config":{"batch":)");
}

TEST_F(ResultsFileTest, ATornLineThatCannotBeKeptIsFoundWhenOpening) {
  path_ = folder_ + '/' + std::string(253, 'r');  // no name is left for PATH.torn
  std::ofstream(path_) << R"({"config":{"torn)";
  EXPECT_TRUE(holds(textOfFailure<StorageError>([&] { ResultsFile file(path_); }), {"torn last line", ".torn"}));
  EXPECT_EQ(content(), R"({"config":{"torn)");
}

TEST_F(ResultsFileTest, AnEditedLineIsRefusedByItsNumber) {
  ResultsFile(path_).append(named("first"));
  ResultsFile(path_).append(named("second"));
  std::string text = content();
  const size_t window = text.rfind("\"window_ns\":3");
  ASSERT_NE(window, std::string::npos);
  text[window + 12] = '1';  // three times as fast
  std::ofstream(path_, std::ios::trunc) << text;
  EXPECT_TRUE(
      holds(textOfFailure<DataError>([&] { readResults(path_); }), {path_, "line 2", "changed after it was written"}));
}

/// The warnings about a file of these of three lines, each written behind the one before.
std::string warningsOf(const std::string& path, const std::string& three, const std::vector<size_t>& lines) {
  std::vector<std::string> all;
  std::istringstream in(three);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  std::ofstream file(path, std::ios::trunc);
  for (const size_t line : lines) file << all.at(line) << '\n';
  file.close();
  const CapturedWarnings warnings;
  EXPECT_EQ(readResults(path).size(), lines.size());
  return warnings.text();
}

TEST_F(ResultsFileTest, LinesTakenOutPutInOrMovedAreNamed) {
  for (const char* name : {"first", "second", "third"}) ResultsFile(path_).append(named(name));
  const std::string three = content();
  EXPECT_EQ(warningsOf(path_, three, {0, 1, 2}), "");
  EXPECT_TRUE(holds(warningsOf(path_, three, {0, 2}), {"line 2 was not written behind the line before it"}));
  EXPECT_TRUE(holds(warningsOf(path_, three, {0, 1, 1, 2}), {"line 3 was not written behind"}));
  EXPECT_TRUE(holds(warningsOf(path_, three, {0, 2, 1}), {"line 2 was not", "line 3 was not"}));
  EXPECT_TRUE(holds(warningsOf(path_, three, {1, 2}), {"line 1 was not the first"}));
}

TEST_F(ResultsFileTest, LinesOfVersionsWithoutSealsAreReadAndAreInTheChain) {
  ResultsFile(path_).append(named("first"));
  std::string old = content();
  old = old.substr(0, old.find(",\"seal\"")) + "}\n";
  std::ofstream(path_, std::ios::trunc) << old;
  ResultsFile(path_).append(named("second"));
  const CapturedWarnings warnings;
  EXPECT_EQ(readResults(path_).size(), 2u);
  EXPECT_EQ(warnings.text(), concat("results file '", path_,
                                    "': 1 of 2 records have no seal, so whether they were "
                                    "changed is not known\n"));
  std::string text = content();
  text.replace(text.find("\"first\""), 7, "\"FIRST\"");
  std::ofstream(path_, std::ios::trunc) << text;
  EXPECT_EQ(readResults(path_).size(), 2u);
  EXPECT_TRUE(holds(warnings.text(), {"line 2 was not written behind"}));
}

TEST_F(ResultsFileTest, AWholeLastLineWithoutItsNewlineIsKept) {
  ResultsFile(path_).append(named("first"));
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  ResultsFile(path_).append(named("second"));
  const auto records = readResults(path_);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].time, "first");
}

TEST_F(ResultsFileTest, AFileOfSomethingElseIsRefusedAndKept) {
  write(R"({"name": "package"})");
  EXPECT_TRUE(
      holds(textOfFailure<StorageError>([&] { ResultsFile file(path_); }), {path_, "something else than records"}));
  EXPECT_EQ(content(), R"({"name": "package"})");
}

TEST_F(ResultsFileTest, ABadMiddleLineIsNamedByItsNumber) {
  ResultsFile(path_).append(named("first"));
  write("{\"schema\": 1}\n");
  ResultsFile(path_).append(named("third"));
  EXPECT_TRUE(holds(textOfFailure<DataError>([&] { readResults(path_); }), {path_, "line 2", "missing"}));
  std::filesystem::resize_file(path_, 0);
  write("not JSON\n");
  EXPECT_TRUE(holds(textOfFailure<DataError>([&] { readResults(path_); }), {path_, "line 1", "not a JSON record"}));
  EXPECT_TRUE(holds(textOfFailure<DataError>([&] { readResults(folder_ + "/none"); }), {"/none", "No such file"}));
}

TEST(ResultsOf010, AreReadWithWhatTheySay) {
  const CapturedWarnings warnings;
  const auto records = readResults(testsFolder() + "/measure/record/0.1.0/results.jsonl");
  EXPECT_EQ(warnings.text(), "") << "the chain of hashes holds";
  ASSERT_EQ(records.size(), 2U);
  for (const RunRecord& record : records) {
    EXPECT_EQ(record.environment.tandemVersion, "0.1.0");
    EXPECT_EQ(record.outcome.kind, OutcomeKind::ok);
    EXPECT_EQ(record.config.network.model, "resnet20");
    EXPECT_EQ(record.config.numerics.cudaGraph, "auto") << "was called graph";
    EXPECT_EQ(record.measuredSteps, 3);
    EXPECT_EQ(std::ssize(record.steps), 3 * record.config.placement.replicas);
    EXPECT_EQ(record.placement.layout.empty(), false);
  }
  EXPECT_EQ(records[1].config.placement.replicas, 2);
}

}  // namespace
}  // namespace tandem

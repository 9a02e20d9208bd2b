// What broke the program once: each row of a review of bad places, limits and signals.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/text.h"
#include "measure/record/results_file.h"
#include "run_tandem.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr int usage = 2, data = 3, numeric = 7, storage = 8, interrupted = 130;

/// Arguments of a run that takes a moment with few steps.
std::string tiny(int64_t steps = 2) {
  return concat("bench --repeats=1 --model=trivial --image-size=32 --batch=4 --warmup=1 --replicas=1 ",
                "--allow-interference --verify=off --steps=", steps, ' ');
}

constexpr int64_t endless = 10'000'000;

/// A line of bash in an empty folder of the test, in which $T is the program.
Finished shell(const std::string& line, const std::map<std::string, std::string>& variables = {}) {
  auto all = variables;
  all["T"] = TANDEM_BINARY_DIR "/tandem";
  return Tandem({"-c", line}, all, "/bin/bash").wait();
}

std::string contents(const std::string& name) {
  std::ifstream file(ownFolder() + "/" + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Ended with this code and one line of error that has the part.
void expectOneLine(const Finished& run, int code, std::string_view part) {
  EXPECT_EQ(run.code, code) << run.err;
  ASSERT_EQ(run.errors().size(), 1U) << run.err;
  EXPECT_TRUE(contains(run.errors().front(), part)) << run.err;
}

std::vector<std::string> filesLike(std::string_view name) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(ownFolder())) {
    if (contains(entry.path().filename().string(), name)) found.push_back(entry.path().filename());
  }
  return found;
}

TEST(ClosedDescriptors, OutputThatIsClosedIsAnError) {
  expectOneLine(shell("exec $T list models >&-"), storage, "standard output is closed");
  EXPECT_EQ(shell("exec $T " + tiny() + "--out=s.jsonl >&- 2>&-").code, storage);
  EXPECT_FALSE(fs::exists(ownFolder() + "/s.jsonl")) << contents("s.jsonl");
}

TEST(ClosedDescriptors, OfErrorAndInputAreNothing) {
  EXPECT_EQ(shell("exec $T " + tiny() + "--out=s.jsonl <&- 2>&-").code, 0);
  EXPECT_EQ(readResults(ownFolder() + "/s.jsonl").size(), 1U);
}

TEST(Files, WrittenTwiceAreRefused) {
  for (const char* const both : {"--out=q.jsonl --mllog=q.jsonl", "--out=x.safetensors --save-weights=./x.safetensors",
                                 "--profile --out=x.pftrace --trace=x.pftrace", "--out=x.html --page=x.html"}) {
    SCOPED_TRACE(both);
    expectOneLine(shell("exec $T " + tiny() + both), usage, "are one file");
  }
  expectOneLine(shell("touch a; ln a b; exec $T " + tiny() + "--out=a --mllog=b"), usage, "are one file");
  expectOneLine(shell("ln -s a c; exec $T " + tiny() + "--out=a --mllog=c"), usage, "are one file");
  EXPECT_EQ(shell("exec $T " + tiny() + "--out=/dev/null --mllog=/dev/null").code, 0);
}

TEST(Files, ReadAndWrittenAreRefused) {
  const auto run = shell(
      "echo old > w.safetensors; exec $T features --model=lenet5 --weights=w.safetensors "
      "--out=w.safetensors a.png");
  expectOneLine(run, usage, "is read and would be replaced");
  EXPECT_EQ(contents("w.safetensors"), "old\n");
  expectOneLine(shell("exec $T weights convert w.safetensors w.safetensors"), usage, "is read");
}

TEST(Files, OutputsThatCannotBeReplacedAreFoundBeforeTheRun) {
  for (const char* const option : {"--save-weights=/no/such/w.safetensors", "--page=/no/such/page.html"}) {
    const auto run = shell("exec $T " + tiny() + option);
    expectOneLine(run, storage, "/no/such");
    EXPECT_FALSE(contains(run.out, "images/s")) << run.out;
  }
  expectOneLine(shell("mkfifo f.html; exec $T " + tiny() + "--page=f.html"), storage, "would be replaced");
}

/// A line of bash, run where the folder `full` has 64 KiB.
Finished shellWithLittleRoom(const std::string& line) {
  return shell("mkdir -p full; exec unshare -rm bash -c \"mount -t tmpfs -o size=64k none full && " + line + "\"");
}

TEST(Files, ThatWillNotFitAreFoundBeforeTheRun) {
  if (shellWithLittleRoom("true").code != 0) GTEST_SKIP() << "no file system can be mounted here";
  const auto run =
      shellWithLittleRoom("exec $T bench --model=lenet5 --replicas=1 --steps=2 --save-weights=full/w.safetensors");
  expectOneLine(run, storage, "full/w.safetensors': it needs 8.3 MiB, and 64 KiB are free there");
  EXPECT_FALSE(contains(run.out, "images/s")) << run.out;
  const auto copy = shellWithLittleRoom(
      "$T " + tiny() + "--save-weights=w.safetensors >&2 && exec $T weights convert w.safetensors full/c.safetensors");
  expectOneLine(copy, storage, "full/c.safetensors': it needs");
}

TEST(Files, FifosWithoutTheOtherEndAreRefused) {
  expectOneLine(shell("mkfifo out; exec $T " + tiny() + "--out=out"), storage, "a FIFO that nobody reads");
  expectOneLine(shell("exec $T " + tiny() + "--mllog=out"), storage, "a FIFO that nobody reads");
  expectOneLine(shell("exec $T report out"), data, "a FIFO that nobody writes to");
  expectOneLine(shell("exec $T report /dev/zero"), data, "is a device");
  expectOneLine(shell("exec $T bench --model=lenet5 --weights=out"), data, "not a regular file");
  expectOneLine(shell("exec $T " + tiny() + "--out=-"), usage, "must name a file");
}

TEST(Files, FifosWithBothEndsHoldTheRecord) {
  const auto run =
      shell("mkfifo pipe; cat pipe > copy & $T " + tiny() + "--out=pipe; wait; exec $T report <(cat copy)");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "trivial")) << run.out;
}

TEST(Files, WeightsOfARunThatFailsAreNotKept) {
  const auto run = shell("echo old > w.safetensors; exec $T " + tiny(20) + "--lr=1e30 --save-weights=w.safetensors");
  EXPECT_EQ(run.code, numeric) << run.err;
  EXPECT_EQ(contents("w.safetensors"), "old\n");
  EXPECT_EQ(filesLike("w.safetensors").size(), 1U);
}

TEST(Files, KilledRunsLeaveNoTemporaryFile) {
  const auto run = shell("echo old > w.safetensors; $T " + tiny(endless) +
                         "--save-weights=w.safetensors & sleep 2; kill -INT $!; wait $!");
  EXPECT_EQ(run.code, interrupted) << run.err;
  EXPECT_EQ(filesLike("w.safetensors").size(), 1U);
  EXPECT_EQ(contents("w.safetensors"), "old\n");
}

TEST(Files, ACacheThatIsNoneIsNamedOnce) {
  const std::string bench = "exec $T bench --model=lenet5 --batch=4 --replicas=1 --repeats=2 --warmup=1 --steps=2 " +
                            std::string("--allow-interference --verify=off");
  for (const char* const cache : {"mkfifo c/measured.tsv", "mkdir c/measured.tsv", "echo damaged > c/measured.tsv"}) {
    const auto run = shell(concat("rm -rf c; mkdir c; ", cache, "; export TANDEM_CACHE=$PWD/c; ", bench));
    EXPECT_EQ(run.code, 0) << run.err;
    const size_t said = run.err.find("measured.tsv");
    EXPECT_NE(said, std::string::npos) << cache;
    EXPECT_EQ(run.err.find("measured.tsv", said + 1), std::string::npos) << cache << ": " << run.err;
  }
}

TEST(Text, ThatIsNoneIsShownEscaped) {
  expectOneLine(shell("exec $T " + tiny() + "--out=$'a\\xff'"), usage, "--out=a\\xff");
  expectOneLine(shell("exec $T " + tiny() + "--batch=$'4\\n'"), usage, "--batch=4\\x0a");
  expectOneLine(shell("exec $T report $'o\\n\\e[31mk'"), usage, "o\\x0a\\x1b[31mk");
}

TEST(Limits, OfTheProcessAreOneLine) {
  expectOneLine(shell("ulimit -s 64; exec $T " + tiny()), usage, "ulimit -s");
  // Descriptors that the test inherited would count.
  expectOneLine(shell("exec 3>&- 4>&- 5>&- 6>&-; ulimit -n 7; exec $T " + tiny()), usage, "ulimit -n");
  expectOneLine(shell("(ulimit -f 0; exec $T " + tiny() + ") 2>&1 | cat >&2; exit ${PIPESTATUS[0]}"), storage,
                "File too large");
  expectOneLine(shell("ulimit -t 2; exec $T " + tiny(endless)), usage, "the run took its CPU time");
  expectOneLine(shell("ulimit -t 1; exec $T list models"), usage, "1 seconds of CPU time are the most here");
  expectOneLine(shell("ulimit -t 2; exec $T plan show --model=nasnet_large"), usage, "the CPU time that this process");
}

// The limit does not hold for root: another user runs the program, who may read what root may.
TEST(Limits, OfProcessesFailTheRunAtOnce) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can start a program as another user";
  const auto run = shell(
      "chmod 777 . && ulimit -u 4 && exec setpriv --reuid=64321 --clear-groups "
      "--inh-caps=+dac_read_search --ambient-caps=+dac_read_search $T " +
      tiny());
  EXPECT_EQ(run.code, usage) << run.err;
  EXPECT_TRUE(contains(run.out, "4 processes and threads of a user are the most here (ulimit -u)")) << run.out;
}

TEST(Limits, OfAFilesSizeLeaveTheOldWeights) {
  const auto run = shell("echo old > w.safetensors; ulimit -f 100; exec $T " + tiny() + "--save-weights=w.safetensors");
  EXPECT_EQ(run.code, storage) << run.err;
  EXPECT_TRUE(contains(run.err, "File too large")) << run.err;
  EXPECT_EQ(contents("w.safetensors"), "old\n");
  EXPECT_EQ(filesLike("w.safetensors").size(), 1U);
}

TEST(Limits, AFolderThatIsGoneIsOneLine) {
  expectOneLine(shell("mkdir gone; cd gone; rmdir ../gone; exec $T list models"), usage, "no longer exists");
}

TEST(Text, OfAVariableThatIsNoneIsInTheRecordEscaped) {
  EXPECT_EQ(shell("export MKL_X=$'a\\xff\\e'; exec $T " + tiny() + "--out=r.jsonl").code, 0);
  EXPECT_EQ(readResults(ownFolder() + "/r.jsonl").at(0).environment.variables.at("MKL_X"), "a\\xff\x1b");
  const auto shown = shell("exec $T report r.jsonl");
  EXPECT_TRUE(contains(shown.out, "MKL_X=a\\xff\\x1b")) << shown.out;
}

/// A run whose peaks are not known yet, stopped a second after it began.
class StoppedInPeaks {
 public:
  explicit StoppedInPeaks(int signal) : tandem_(arguments(), {{"TANDEM_CACHE", ownFolder() + "/cache"}}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    begin_ = std::chrono::steady_clock::now();
    kill(tandem_.id(), signal);
  }
  Finished wait() { return tandem_.wait(); }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  static std::vector<std::string> arguments() { return split(tiny() + "--out=r.jsonl", " "); }
  Tandem tandem_;
  std::chrono::steady_clock::time_point begin_;
};

TEST(Signals, AreHeededWhilePeaksAreMeasured) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    StoppedInPeaks run(signal);
    expectOneLine(run.wait(), interrupted, "interrupted");
    EXPECT_LT(run.seconds(), 3) << "signal " << signal << " was not heeded";
  }
}

TEST(Signals, AreHeededWhileKernelsAreChosen) {
  const std::string cache = ownFolder() + "/cache";
  EXPECT_EQ(shell("TANDEM_CACHE=" + cache + " $T " + tiny()).code, 0) << "measures the peaks";
  const auto begin = std::chrono::steady_clock::now();
  const auto run =
      shell("TANDEM_CACHE=" + cache +
            " $T bench --model=resnet50 --batch=8 --replicas=1 --steps=1000 & sleep 4; kill -INT $!; wait $!");
  expectOneLine(run, interrupted, "interrupted");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(12));
}

TEST(Signals, NoChildOutlivesAKilledProgram) {
  const auto run = shell("mkdir cache; TANDEM_CACHE=$PWD/cache $T " + tiny() +
                         "& sleep 1.5; kill -KILL $!; sleep 1; for each in /proc/[0-9]*/cmdline; do "
                         "tr '\\0' ' ' < $each; echo; done 2> /dev/null | grep '^/proc/self/exe peaks'");
  EXPECT_EQ(run.code, 1) << "still there: " << run.out;
}

TEST(Signals, AChildOfAProgramThatHasEndedEnds) {
  EXPECT_EQ(shell("TANDEM_PARENT=1 $T peaks copy 0; exit $?").code, 128 + SIGKILL);
}

TEST(Signals, AHangupKeepsTheTable) {
  const auto run = shell(
      "$T bench --repeats=1 --model=trivial --image-size=32 --batch=4,8 --steps=30000 --warmup=1 "
      "--replicas=1 --allow-interference --verify=off --point-deadline=3 --out=h.jsonl > out & bench=$!; "
      "for ((i = 0; i < 600; ++i)); do grep -q '^.2/2' out && break; sleep 0.1; done; "
      "kill -HUP $bench; wait $bench; code=$?; cat out; exit $code");
  EXPECT_EQ(run.code, interrupted) << run.err;
  EXPECT_TRUE(contains(run.out, "deadline")) << "the table of the point that ended:\n" << run.out;
}

}  // namespace
}  // namespace tandem

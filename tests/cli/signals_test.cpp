// Signals to the program and to what it started.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "bash_lines.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

/// How many measurements a file of the cache holds.
int64_t measurementsIn(const std::string& name) { return std::ranges::count(contents(name), '\n'); }

TEST(Signals, AreHeededWhilePeaksAreMeasured) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string cache = concat("cache", signal);
    Tandem tandem(split(tiny() + "--out=r.jsonl", " "), {{"TANDEM_CACHE", ownFolder() + "/" + cache}});
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    kill(tandem.id(), signal);
    const Finished run = tandem.wait();
    expectOneLine(run, interrupted, "interrupted");
    // At the end each of the two is kept, or said to be unknown.
    EXPECT_LT(measurementsIn(cache + "/measured.tsv"), 2) << "signal " << signal << " was not heeded";
    EXPECT_FALSE(contains(run.err, "is unknown")) << "signal " << signal << " was not heeded: " << run.err;
  }
}

TEST(Signals, AreHeededWhileKernelsAreChosen) {
  const auto run = shell(
      "mkdir c; grep ^peak $TANDEM_CACHE/measured.tsv > c/measured.tsv; export TANDEM_CACHE=$PWD/c; "
      "$T bench --model=resnet50 --batch=32 --replicas=1 --steps=1000 & sleep 4; kill -INT $!; wait $!");
  expectOneLine(run, interrupted, "interrupted");
  EXPECT_FALSE(contains(contents("c/measured.tsv"), "convolution")) << "the choice went on to its end";
}

TEST(Signals, NoChildOutlivesAKilledProgram) {
  // Those of other programs have another cache.
  const std::string peaks =
      "for each in $(grep -lzsx \"TANDEM_CACHE=$PWD/cache\" /proc/[0-9]*/environ); do "
      "tr '\\0' ' ' < ${each%environ}cmdline; echo; done 2> /dev/null | grep '^/proc/self/exe peaks'";
  const auto run =
      shell("mkdir cache; TANDEM_CACHE=$PWD/cache $T " + tiny() + "& for ((i = 0; i < 200; ++i)); do " + peaks +
            " > seen && break; sleep 0.05; done; [ -s seen ] || exit 99; kill -KILL $!; sleep 1; " + peaks);
  EXPECT_EQ(run.code, 1) << "no child was there, or one still is: " << run.out;
}

TEST(Signals, AChildOfAProgramThatHasEndedEnds) {
  EXPECT_EQ(shell("TANDEM_PARENT=1 $T peaks copy 0; exit $?").code, 128 + SIGKILL);
}

TEST(Signals, ARunThatAnotherProgramEndsIsNoCrash) {
  for (const char* const signal : {"INT", "TERM", "HUP", "KILL"}) {
    const auto run = shell(
        concat("$T bench --repeats=1 --model=trivial --image-size=32 --batch=4 --steps=1000000 --warmup=1 --replicas=1 "
               "--allow-interference --verify=off > out & bench=$!; for ((i = 0; i < 300; ++i)); do ",
               "grep -q '^.1/1' out && break; sleep 0.1; done; sleep 1; ", "kill -", signal,
               " $(cat /proc/$bench/task/$bench/children); wait $bench"));
    EXPECT_EQ(run.code, 6) << signal << ": " << run.err;
    EXPECT_NE(run.err.find("the run was killed by another program (signal "), std::string::npos) << run.err;
    EXPECT_NE(run.err.find(concat("SIG", signal, "); start it again")), std::string::npos) << run.err;
  }
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

/// Starts the program, sends it a signal once it has several threads, and ends as it ends.
std::string interruptedBy(const char* signal, const std::string& arguments) {
  return concat("$T ", arguments, " > out & for ((i = 0; i < 400; ++i)); do (($(ls /proc/$!/task | wc -l) > 1)) && ",
                "break; sleep 0.05; done; kill -", signal, " $! || exit 99; wait $!");
}

/// Arguments that name weights `w.safetensors` and as many images. Makes both.
std::string manyImages(int count) {
  const std::string image = concat(testsFolder(), "/golden/images/rgb.jpg");
  EXPECT_EQ(shell("cp " + image + " i; exec $T " + tiny() + "--save-weights=w.safetensors").code, 0);
  return concat(" --model=trivial --image-size=32 --weights=w.safetensors $(yes i | head -", count, ")");
}

TEST(Signals, EndPredictionsAsTheyEndARun) {
  const std::string images = manyImages(40'000);
  for (const char* const signal : {"INT", "TERM", "HUP"}) {
    SCOPED_TRACE(signal);
    expectOneLine(shell(interruptedBy(signal, "predict" + images)), interrupted, "interrupted");
    expectOneLine(shell(interruptedBy(signal, "features --out=f.npy" + images)), interrupted, "interrupted");
  }
  EXPECT_EQ(leftOver().size(), 0U);
  EXPECT_EQ(filesLike("f.npy").size(), 0U);
}

TEST(Signals, AreHeededFromTheStart) {
  const auto run = shell(
      "$T plan show --model=resnet50 > out & until grep -qE '^SigCgt:.*[4-7c-f][0-9a-f]{3}$' /proc/$!/status; do :; "
      "done; kill -TERM $! || exit 99; wait $!");
  expectOneLine(run, interrupted, "interrupted");
  const auto mute = shell(
      "ulimit -f 0; $T plan show --model=resnet50 2> out & until grep -qE '^SigCgt:.*[4-7c-f][0-9a-f]{3}$' "
      "/proc/$!/status; do :; done; kill -TERM $! || exit 99; wait $!");
  EXPECT_EQ(mute.code, interrupted) << "a file that takes no line";
}

TEST(Signals, ThatAreIgnoredStayIgnored) {
  const auto run = shell("trap '' HUP; " + interruptedBy("HUP", "predict" + manyImages(5'000)));
  EXPECT_EQ(run.code, 0) << run.err;
}

}  // namespace
}  // namespace tandem

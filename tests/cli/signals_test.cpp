// Signals to the program and to what it started.
#include <gtest/gtest.h>
#include <signal.h>

#include "sent_signals.h"

namespace tandem {
namespace {

TEST(Signals, AreHeededWhilePeaksAreMeasured) { expectHeededWhilePeaksAreMeasured(SIGTERM); }

TEST(Signals, AreHeededWhileKernelsAreChosen) {
  const auto run = shell(
      "mkdir c; grep ^peak $TANDEM_CACHE/measured.tsv > c/measured.tsv; export TANDEM_CACHE=$PWD/c; "
      "$T bench --model=resnet50 --batch=32 --replicas=1 --steps=1000 & sleep 3; kill -INT $!; wait $!");
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
  for (const char* const signal : {"TERM", "KILL"}) expectNoCrash(signal);
}

TEST(Signals, AHangupKeepsTheTable) {
  const auto run = shell(
      "$T bench --repeats=1 --model=trivial --image-size=32 --batch=4,8 --steps=30000 --warmup=1 "
      "--replicas=1 --allow-interference --verify=off --point-deadline=2 --out=h.jsonl > out & bench=$!; "
      "for ((i = 0; i < 600; ++i)); do grep -q '^.2/2' out && break; sleep 0.1; done; "
      "kill -HUP $bench; wait $bench; code=$?; cat out; exit $code");
  EXPECT_EQ(run.code, interrupted) << run.err;
  EXPECT_TRUE(contains(run.out, "deadline")) << "the table of the point that ended:\n" << run.out;
}

TEST(Signals, EndPredictionsAsTheyEndARun) {
  const std::string images = manyImages(40'000);
  expectEndsPredictions("INT", "predict" + images);
  expectEndsPredictions("TERM", "features --out=f.npy" + images);
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
  const auto run = shell("trap '' HUP; " + interruptedBy("HUP", "predict" + manyImages(3'000)));
  EXPECT_EQ(run.code, 0) << run.err;
}

}  // namespace
}  // namespace tandem

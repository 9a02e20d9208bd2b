// What broke the program once: each row of a review of bad places, descriptors and texts.
#include <gtest/gtest.h>

#include <filesystem>

#include "bash_lines.h"
#include "measure/record/results_file.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

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

TEST(Files, MayHaveNamesAsLongAsTheirFolderAllows) {
  const std::string longest(243, 'n'), run = "exec $T " + tiny();
  EXPECT_EQ(shell(run + "--save-weights=" + longest + ".safetensors --out=r.jsonl").code, 0);
  EXPECT_TRUE(fs::exists(ownFolder() + "/" + longest + ".safetensors"));
  EXPECT_EQ(shell("exec $T report r.jsonl --out=" + longest + longest.substr(0, 12)).code, 0);
  EXPECT_EQ(leftOver().size(), 0U);
  const std::string copies = "exec $T weights convert " + longest + ".safetensors ";
  for (const std::string& line :
       {concat(run, "--save-weights=n", longest, ".safetensors"), concat(run, "--page=", longest, "123456789.html"),
        concat(run, "--profile --trace=", longest, "123456.pftrace"),
        concat("exec $T report r.jsonl --out=", longest, longest), concat(copies, longest, "n.safetensors"),
        concat(run, "--mllog=", longest, longest), concat(run, "--out=", longest, longest)}) {
    const auto refused = shell(line);
    expectOneLine(refused, storage, "File name too long");
    EXPECT_FALSE(contains(refused.out, "images/s")) << refused.out;
  }
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
  const auto run = shell("echo old > w.safetensors; exec $T " + tiny(20, /*classes=*/1000) +
                         "--lr=1e30 --save-weights=w.safetensors");
  EXPECT_EQ(run.code, numeric) << run.err;
  EXPECT_EQ(contents("w.safetensors"), "old\n");
  EXPECT_EQ(leftOver().size(), 0U);
}

TEST(Files, KilledRunsLeaveNoTemporaryFile) {
  const auto run = shell("echo old > w.safetensors; $T " + tiny(endless) +
                         "--save-weights=w.safetensors & sleep 2; kill -INT $!; wait $!");
  EXPECT_EQ(run.code, interrupted) << run.err;
  EXPECT_EQ(leftOver().size(), 0U);
  EXPECT_EQ(contents("w.safetensors"), "old\n");
}

TEST(Files, ACacheThatIsNoneIsNamedOnce) {
  const std::string bench = "exec $T bench --model=lenet5 --layout=nhwc --convolution=direct --batch=4 --replicas=1 " +
                            std::string("--repeats=2 --warmup=1 --steps=2 --allow-interference --verify=off");
  for (const char* const cache :
       {"mkfifo c/measured.tsv", "cp $TANDEM_CACHE/measured.tsv c; echo damaged >> c/measured.tsv"}) {
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

TEST(Text, OfAVariableThatIsNoneIsInTheRecordEscaped) {
  EXPECT_EQ(shell("export MKL_X=$'a\\xff\\e'; exec $T " + tiny() + "--out=r.jsonl").code, 0);
  EXPECT_EQ(readResults(ownFolder() + "/r.jsonl").at(0).environment.variables.at("MKL_X"), "a\\xff\x1b");
  const auto shown = shell("exec $T report r.jsonl");
  EXPECT_TRUE(contains(shown.out, "MKL_X=a\\xff\\x1b")) << shown.out;
}

}  // namespace
}  // namespace tandem

// --loader=processes and --cache: the program as the processes that make batches.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/number.h"
#include "base/text.h"
#include "machine/cpu/host_facts.h"
#include "made_batches.h"
#include "support/contains.h"
#include "support/idx_images.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

Texts filesOf(const std::string& folder) {
  Texts files;
  for (const auto& entry : fs::recursive_directory_iterator(folder + "/train")) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

TEST(LoaderProcesses, MakeTheBatchesOfThreads) {
  const std::string folder = madeFolder();
  expectBatchesOfThreads(folder, /*producers=*/1, /*replicas=*/2);
  expectBatchesOfThreads(folder, /*producers=*/4, /*replicas=*/1);
}

TEST(LoaderProcesses, MakeBatchesOfPixelsAndOfSyntheticImages) {
  EXPECT_TRUE(Made(configOf(writeIdxImages(ownFolder() + "/idx", 20), 2, 1)).areThoseOfThreads(0, 12));
  Config config = configOf("", 2, 1);
  config.input.source = "queue";
  EXPECT_TRUE(Made(config).areThoseOfThreads(0, 5));
}

TEST(LoaderProcesses, CountBadImagesTogether) {
  const std::string folder = madeFolder();
  const Texts files = filesOf(folder);
  for (const size_t i : {0, 5, 9}) std::ofstream(files[i], std::ios::binary) << "<html>";
  Config config = configOf(folder, 2, 1);
  const std::string ofThreads = [&] {
    const Made made(config);
    const auto maker = batchMaker(made.plan, 0, 1, made.data);
    return textOfFailure<DataError>([&] {
      for (int64_t k = 0; k < imagesMade; ++k) maker->make(k);
    });
  }();
  const auto untilItFails = [](Made& made) -> std::string {
    try {
      for (int64_t k = 0; k < imagesMade; ++k) made.next();
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ExitCode::data);
      return failure.what();
    }
    return "";
  };
  Made fails(config);
  EXPECT_EQ(untilItFails(fails), ofThreads);
  EXPECT_NE(ofThreads, "");
  config.inference.badImage = "skip", config.input.maxBad = 8;  // 2 of 26
  Made tooMany(config);
  EXPECT_TRUE(contains(untilItFails(tooMany), "more than 2 images cannot be read"));
  config.input.maxBad = 12;
  Made borne(config);
  EXPECT_TRUE(borne.areThoseOfThreads(0, imagesMade / 2));
  EXPECT_TRUE(contains(borne.data.bad->text(), "3 images could not be read")) << borne.data.bad->text();
}

TEST(LoaderProcesses, OneThatIsKilledIsNamed) {
  Made made(configOf(madeFolder(), 2, 1));
  made.next();
  kill(made.data.feeders->processes().back(), SIGKILL);
  const std::string text = textOfFailure<PeerError>([&] {
    for (int64_t k = 0; k < imagesMade; ++k) made.next();
  });
  EXPECT_TRUE(contains(text, "killed by signal 9, SIGKILL")) << text;
  EXPECT_TRUE(contains(text, "--loader=processes, process ")) << text;
}

/// What counts as bad after a process got SIGSEGV; empty: it was at no image then, but waited.
std::string badAfterACrash(const Config& config) {
  Made made(config);
  try {
    made.next();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    kill(made.data.feeders->processes().back(), SIGSEGV);
    for (int i = 0; i < 4; ++i) made.next();
  } catch (const PeerError&) {
    return "";
  }
  return made.data.bad->text();
}

TEST(LoaderProcesses, OneThatCrashesAtAnImageIsStartedAgain) {
  Config config = configOf(madeFolder(), 1, 1);
  config.network.imageSize = 1024;  // so that it is at one for long, before its slots are full
  config.step.batch = 26;
  config.inference.badImage = "skip", config.input.maxBad = 50;
  std::string bad;
  for (int tries = 0; bad.empty() && tries < 50; ++tries) bad = badAfterACrash(config);
  EXPECT_TRUE(contains(bad, "its process was killed by signal 11, SIGSEGV there")) << bad;
}

TEST(LoaderProcesses, OneThatCannotStartIsNamed) {
  const Config config = configOf(madeFolder(), 2, 1);
  EXPECT_TRUE(contains(textOfFailure<InternalError>([&] { Made(config, 0, "/nowhere/tandem"); }), "/nowhere/tandem"));
  Made ended(config, 0, "/bin/false");
  EXPECT_TRUE(contains(textOfFailure<PeerError>([&] { ended.next(); }), "its process ended with exit code 1"));
}

/// How the batches of one process end that does nothing any more.
std::string endOfAStuckProcess(Made& made) {
  return textOfFailure<PeerError>([&] {
    for (int64_t k = 0; k < imagesMade; ++k) made.next();
  });
}

/// Stops the thread that makes batches, and no other, until the process is killed. False: that is not allowed here.
bool stopTheMaker(pid_t process) {
  if (ptrace(PTRACE_SEIZE, process, nullptr, nullptr) != 0) return false;
  return ptrace(PTRACE_INTERRUPT, process, nullptr, nullptr) == 0 && waitpid(process, nullptr, __WALL) == process;
}

TEST(LoaderProcesses, OneThatDoesNothingIsNamedAfterTheTimeout) {
  Config config = configOf(madeFolder(), 1, 1);
  config.exchange.timeout = 3;
  Made stopped(config);
  stopped.next();
  Made stuck(config);
  stuck.next();
  const int whole = stopped.data.feeders->processes().front(), maker = stuck.data.feeders->processes().front();
  kill(whole, SIGSTOP);
  const bool isStuck = stopTheMaker(maker);
  std::string end;
  std::thread waits([&] { end = endOfAStuckProcess(stopped); });
  const auto named = [](int process) {
    return concat("process ", process, ", which makes the next batch, does nothing");
  };
  if (isStuck) {
    const std::string text = endOfAStuckProcess(stuck);
    EXPECT_TRUE(contains(text, named(maker))) << text << ": its other thread says that it is there";
  }
  waits.join();
  EXPECT_TRUE(contains(end, named(whole))) << end;
}

TEST(LoaderProcesses, EachKeepsItsShareOfTheCache) {
  Config config = configOf(madeFolder(), 2, 1);
  config.input.cacheGib = 0.01;
  Made made(config);
  EXPECT_TRUE(made.areThoseOfThreads(0, imagesMade));
  EXPECT_GE(made.data.caches->sum().samples, imagesMade / 2);
  EXPECT_LE(made.data.caches->sum().samples, 2 * imagesMade);
  EXPECT_TRUE(contains(made.data.cacheText(), "of a data set of 26")) << made.data.cacheText();
}

TEST(LoaderProcesses, AnOrderIsRead) {
  LoaderOrder order;
  order.images = 7, order.replica = 1, order.shares = {1, 2}, order.hardwareThreads = {3, 4};
  order.share = {5, 6, 7, {8}};
  order.config.input.cacheGib = 0.3;
  const LoaderOrder read = loaderOrderFrom(toText(order));
  EXPECT_EQ(toText(read), toText(order));
  EXPECT_EQ(read.config, order.config);
  EXPECT_EQ(read.share.passedOver, order.share.passedOver);
  EXPECT_THROW(loaderOrderFrom("{}"), UsageError);
  const auto byHand = runTandem({"loader-worker"});
  EXPECT_EQ(byHand.code, 2);
  EXPECT_EQ(byHand.errors().size(), 1U) << byHand.err;
}

Texts benchOf(const std::string& folder, const Texts& more) {
  Texts all{"bench",
            "--model=trivial",
            "--image-size=32",
            "--data=" + folder,
            "--batch=4",
            "--replicas=1",
            "--warmup=1",
            "--repeats=1",
            "--allow-interference",
            "--verify=off",
            "--loader=processes",
            "--format=json"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// The losses that a run prints as JSON.
std::string lossesIn(const std::string& text) {
  const size_t at = text.find("\"losses\"");
  return at == std::string::npos ? "" : text.substr(at, text.find(']', at) - at);
}

TEST(LoaderProcesses, TrainAsThreadsDo) {
  const std::string folder = madeFolder();
  const Texts more{"--steps=12", "--deterministic", "--accumulate=2", "--producers=2"};
  Texts byThreads = benchOf(folder, more);
  std::erase(byThreads, "--loader=processes");
  const auto threads = runTandem(byThreads), processes = runTandem(benchOf(folder, more));
  ASSERT_EQ(processes.code, 0) << processes.err;
  EXPECT_NE(lossesIn(processes.out), "");
  EXPECT_EQ(lossesIn(processes.out), lossesIn(threads.out));
}

TEST(LoaderProcesses, EndTheRunAsThreadsDo) {
  const std::string folder = madeFolder();
  std::ofstream(filesOf(folder).front(), std::ios::binary) << "<html>";
  const auto run = runTandem(benchOf(folder, {"--steps=20"}));
  EXPECT_EQ(run.code, data) << run.err;
  EXPECT_TRUE(contains(run.err, filesOf(folder).front())) << run.err;
}

/// The processes whose command line has these words.
std::vector<pid_t> processesWith(const std::string& word) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto id = numberIn<pid_t>(entry.path().filename().string());
    if (id && contains(textOf(entry.path().string() + "/cmdline"), word)) found.push_back(*id);
  }
  return found;
}

pid_t parentOf(pid_t process) {
  const std::string stat = textOf(concat("/proc/", process, "/stat"));
  const size_t name = stat.rfind(") ");
  return name == std::string::npos ? -1 : numberIn<pid_t>(split(stat.substr(name + 2), " ").at(1)).value_or(-1);
}

/// The processes that make the batches of a run, once there are so many.
std::vector<pid_t> loadersOf(const Tandem& run, size_t count) {
  for (int i = 0; i < 600; ++i) {
    std::vector<pid_t> own;
    const pid_t worker = run.worker();
    for (const pid_t each : processesWith("loader-worker")) {
      if (worker > 0 && parentOf(each) == worker) own.push_back(each);
    }
    if (own.size() == count) return own;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return {};
}

/// Whether all have ended, soon.
bool haveEnded(const std::vector<pid_t>& processes) {
  const auto left = [](pid_t process) {
    return contains(textOf(concat("/proc/", process, "/cmdline")), "loader-worker");
  };
  for (int i = 0; i < 100; ++i) {
    if (std::ranges::none_of(processes, left)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

TEST(LoaderProcesses, NoneOutlivesItsRun) {
  const std::string folder = madeFolder();
  struct End {
    int signal, code;
    bool ofALoader;
  };
  for (const End& end :
       {End{SIGKILL, peer, true}, End{SIGKILL, 128 + SIGKILL, false}, End{SIGINT, interrupted, false}}) {
    Tandem run(benchOf(folder, {"--steps=1000000", "--producers=2"}));
    const auto loaders = loadersOf(run, 2);
    ASSERT_EQ(loaders.size(), 2U);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    kill(end.ofALoader ? loaders.front() : run.id(), end.signal);
    const auto finished = run.wait();
    EXPECT_EQ(finished.code, end.code) << finished.err;
    EXPECT_TRUE(haveEnded(loaders)) << end.signal;
    EXPECT_EQ(contains(finished.err, "killed by signal 9, SIGKILL"), end.ofALoader) << finished.err;
  }
}

TEST(Cache, ARunSaysWhatItKept) {
  const std::string folder = madeFolder();
  Texts more = benchOf(folder, {"--steps=20", "--cache=0.1"});
  std::erase(more, "--loader=processes");
  const auto run = runTandem(more);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "--cache keeps 26 of 26 samples, ")) << run.out;
}

}  // namespace
}  // namespace tandem

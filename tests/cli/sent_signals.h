#pragma once

// What signals do, in the quick tests for some of them and in the long ones for all.

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "bash_lines.h"
#include "support/tests_folder.h"

namespace tandem {

/// A signal that comes while a bench with an empty cache measures the machine's peaks ends it.
inline void expectHeededWhilePeaksAreMeasured(int signal) {
  const std::string cache = concat("cache", signal);
  Tandem tandem(split(tiny() + "--out=r.jsonl", " "), {{"TANDEM_CACHE", ownFolder() + "/" + cache}});
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  kill(tandem.id(), signal);
  const Finished run = tandem.wait();
  expectOneLine(run, interrupted, "interrupted");
  // At the end each of the two is kept, or said to be unknown.
  EXPECT_LT(std::ranges::count(contents(cache + "/measured.tsv"), '\n'), 2) << "signal " << signal << " was not heeded";
  EXPECT_FALSE(contains(run.err, "is unknown")) << "signal " << signal << " was not heeded: " << run.err;
}

/// The process of a run that ends by a signal from elsewhere has not crashed.
inline void expectNoCrash(const std::string& signal) {
  const auto run = shell(
      concat("$T bench --repeats=1 --model=trivial --image-size=32 --batch=4 --steps=1000000 --warmup=1 --replicas=1 "
             "--allow-interference --verify=off > out & bench=$!; for ((i = 0; i < 300; ++i)); do ",
             "grep -q '^.1/1' out && break; sleep 0.1; done; sleep 1; ", "kill -", signal,
             " $(cat /proc/$bench/task/$bench/children); wait $bench"));
  EXPECT_EQ(run.code, 6) << signal << ": " << run.err;
  EXPECT_NE(run.err.find("the run was killed by another program (signal "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find(concat("SIG", signal, "); start it again")), std::string::npos) << run.err;
}

/// Starts the program, sends it a signal once it has several threads, and ends as it ends.
inline std::string interruptedBy(const std::string& signal, const std::string& arguments) {
  return concat("$T ", arguments, " > out & for ((i = 0; i < 400; ++i)); do (($(ls /proc/$!/task | wc -l) > 1)) && ",
                "break; sleep 0.05; done; kill -", signal, " $! || exit 99; wait $!");
}

/// Arguments that name weights `w.safetensors` and as many images. Makes both.
inline std::string manyImages(int count) {
  const std::string image = concat(testsFolder(), "/golden/images/rgb.jpg");
  EXPECT_EQ(shell("cp " + image + " i; exec $T " + tiny() + "--save-weights=w.safetensors").code, 0);
  return concat(" --model=trivial --classes=10 --image-size=32 --weights=w.safetensors $(yes i | head -", count, ")");
}

inline void expectEndsPredictions(const std::string& signal, const std::string& arguments) {
  SCOPED_TRACE(signal);
  expectOneLine(shell(interruptedBy(signal, arguments)), interrupted, "interrupted");
}

}  // namespace tandem

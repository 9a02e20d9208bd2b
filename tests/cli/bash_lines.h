#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "run_tandem.h"
#include "support/contains.h"

/// Lines of bash that run the program, for tests of its descriptors, limits and signals.
namespace tandem {

/// Arguments of a run that takes a moment with few steps. Its weights have 200 KiB.
inline std::string tiny(int64_t steps = 2, int64_t classes = 10) {
  return concat("bench --repeats=1 --model=trivial --image-size=32 --batch=4 --warmup=1 --replicas=1 ",
                "--allow-interference --verify=off --classes=", classes, " --steps=", steps, ' ');
}

constexpr int64_t endless = 10'000'000;

/// A line of bash in an empty folder of the test, in which $T is the program.
inline Finished shell(const std::string& line, const std::map<std::string, std::string>& variables = {}) {
  auto all = variables;
  all["T"] = TANDEM_BINARY_DIR "/tandem";
  return Tandem({"-c", line}, all, "/bin/bash").wait();
}

inline std::string contents(const std::string& name) {
  std::ifstream file(ownFolder() + "/" + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Ended with this code and one line of error that has the part.
inline void expectOneLine(const Finished& run, int code, std::string_view part) {
  EXPECT_EQ(run.code, code) << run.err;
  ASSERT_EQ(run.errors().size(), 1U) << run.err;
  EXPECT_TRUE(contains(run.errors().front(), part)) << run.err;
}

inline std::vector<std::string> filesLike(std::string_view name) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(ownFolder())) {
    if (contains(entry.path().filename().string(), name)) found.push_back(entry.path().filename());
  }
  return found;
}

/// What an interrupted write would leave in the test's folder.
inline std::vector<std::string> leftOver() { return filesLike(".tandem-"); }

}  // namespace tandem

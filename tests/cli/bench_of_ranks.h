#pragma once

// Small runs of several processes.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "measure/record/results_file.h"
#include "run_tandem.h"

namespace tandem {

/// Arguments of a bench that writes to resultsPath(), where nothing is before. The batch is 4 and the network lenet5,
/// whose kernels are named and not measured, unless `more` says otherwise.
inline std::vector<std::string> benchOf(const std::vector<std::string>& more) {
  std::filesystem::remove(resultsPath());
  std::vector<std::string> arguments{"bench",           "--repeats=1",          "--image-size=32",       "--warmup=1",
                                     "--oversubscribe", "--allow-interference", "--out=" + resultsPath()};
  for (const char* const standard : {"--batch=4", "--model=lenet5", "--layout=nhwc", "--convolution=direct"}) {
    const std::string text = standard, name = text.substr(0, text.find('=') + 1);
    const auto isThis = [&](const std::string& argument) { return argument.starts_with(name); };
    if (std::ranges::none_of(more, isThis)) arguments.push_back(text);
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// The records of such a bench, all of which finish.
inline std::vector<RunRecord> measured(const std::vector<std::string>& more) {
  const auto run = runTandem(benchOf(more));
  EXPECT_EQ(run.code, 0) << run.err;
  auto records = readResults(resultsPath());
  for (const RunRecord& record : records) EXPECT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
  return records;
}

/// The note of a run with --deterministic; empty without.
inline std::string fingerprintOf(const RunRecord& record) {
  const auto note =
      std::ranges::find_if(record.notes, [](const std::string& text) { return text.starts_with("weights fnv1a64 "); });
  return note == record.notes.end() ? "" : *note;
}

}  // namespace tandem

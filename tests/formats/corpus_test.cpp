#include <gtest/gtest.h>

#include <filesystem>

#include "base/text.h"
#include "formats/io/file.h"
#include "fuzz/targets.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

/// Every seed and every input that once broke a reader. A broken promise ends the process.
TEST(Corpus, IsReplayed) {
  for (const FuzzTarget& target : fuzzTargets()) {
    const std::string folder = concat(testsFolder(), "/fuzz/corpus/", target.name);
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      target.run(readFile(entry.path(), 1 << 20));
      ++files;
    }
    EXPECT_GE(files, 10) << folder;
  }
}

}  // namespace
}  // namespace tandem

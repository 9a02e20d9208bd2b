#include <gtest/gtest.h>

#include "made_batches.h"

namespace tandem {
namespace {

TEST(LongLoaderProcesses, MakeTheBatchesOfThreads) {
  const std::string folder = madeFolder();
  for (const int64_t producers : {1, 2, 4}) {
    for (const int64_t replicas : {1, 2}) expectBatchesOfThreads(folder, producers, replicas);
  }
}

}  // namespace
}  // namespace tandem

#include "run/plan/replica_set_options.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "run/tiny_config.h"

namespace tandem {
namespace {

// Labels of another type than Tandem keeps are as large as senders make them: NumPy's flags have 8 bytes.
TEST(BatchesFromOutside, MayHaveFlagsOfEightBytesBesideImagesOfFloat) {
  const std::string file = testing::TempDir() + "flags_of_eight_bytes.py";
  std::ofstream(file) << R"(
def batches():
    while True:
        yield (memoryview(bytes(4 * 32 * 3 * 32 * 32)).cast("f", (32, 3, 32, 32)),
               memoryview(bytes(8 * 32 * 14)).cast("d", (32, 14)))
)";
  Config config = tinyConfig();
  config.placement.replicas = 1;
  config.step.batch = 32;
  config.network.head = "14xsigmoid";
  config.input.source = concat("python-queue:", file, ":batches");
  Batch batch;
  trainingOptions(resolvePlan(config), KernelSelection()).source(0)->next(batch);
  EXPECT_EQ(batch.labels.sizes(), (at::IntArrayRef{32, 14}));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace tandem

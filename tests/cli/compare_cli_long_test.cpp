#include <gtest/gtest.h>

#include "measure/record/results_file.h"
#include "run_tandem.h"

namespace tandem {
namespace {

TEST(LongCompare, GoesOnUntilThreePercentWouldBeFoundAndJudges) {
  const std::string path = ownFolder() + "/r.jsonl";
  const auto run = runTandem({"bench", "--model=trivial", "--image-size=32", "--replicas=1", "--batch=8", "--steps=50",
                              "--warmup=5", "--compare", "--allow-interference", "--out=" + path});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("A against B: "), std::string::npos) << run.out;
  const size_t runs = readResults(path).size();
  EXPECT_GE(runs, 40U);
  EXPECT_EQ(runs % 4, 0U);
}

}  // namespace
}  // namespace tandem

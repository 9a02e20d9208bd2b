#include "measure/record/batch_search.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

constexpr int64_t mib = 1 << 20;

TEST(BatchSearch, OneLineSaysWhatFittedAndWhatDidNot) {
  const BatchSearch search{7, 2300 * mib, 2000 * mib, 1900 * mib, 324, "out of memory"};
  EXPECT_EQ(textOf(search, 320),
            "--batch=max is 320: peak 1.9 GiB, 100 MiB below the limit of 2 GiB (2.2 GiB available, 300 MiB kept in "
            "reserve); 7 probes, 324 did not fit: out of memory");
}

TEST(BatchSearch, WhereAllFittedItSaysWhyNoneIsLarger) {
  const BatchSearch search{1, 2300 * mib, 2000 * mib, 200 * mib, 0, "--data has 10 images"};
  const std::string text = textOf(search, 10);
  EXPECT_NE(text.find("; 1 probe, no larger one: --data has 10 images"), std::string::npos) << text;
}

TEST(BatchSearch, OfAGpuItSaysWhatIsLeftOfIts) {
  const BatchSearch search{3, 80 * 1024 * mib, 0, 70 * 1024 * mib, 260, "CUDA out of memory"};
  EXPECT_EQ(textOf(search, 256),
            "--batch=max is 256: peak 70 GiB, 10 GiB of the GPU's 80 GiB left; 3 probes, 260 did not fit: CUDA out of "
            "memory");
}

}  // namespace
}  // namespace tandem

#include "kernels/peak/peaks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>

namespace tandem {
namespace {

#if defined(__x86_64__)

// A loop that counts more FLOPs than it computes would be faster than the processor can be. Its sums count them too.
void expectCounted(std::optional<PeakLoop> (*loopOf)(int threads)) {
  for (const int threads : {1, 2}) {
    const auto loop = loopOf(threads);
    if (!loop) GTEST_SKIP() << "this processor has no instruction for it";
    EXPECT_GT(loop->work, 0);
    EXPECT_EQ(loop->run(), loop->work) << loop->name << " on " << threads << " threads";
  }
}

TEST(Peaks, Fp32IsThatOfAsManyFlopsAsAreComputed) { expectCounted(fmaLoop); }
TEST(Peaks, Bf16IsThatOfAsManyFlopsAsAreComputed) { expectCounted(bf16Loop); }

TEST(Peaks, ARateIsWorkPerSecond) {
  constexpr auto least = std::chrono::milliseconds(20);
  const Peak peak = bestRate({"sleep", 100, [=] {
                                std::this_thread::sleep_for(least);
                                return 100.0;
                              }});
  EXPECT_EQ(peak.by, "sleep");
  EXPECT_GT(peak.perSecond, 0);
  EXPECT_LE(peak.perSecond, 100 / 0.020);
}

#else

TEST(Peaks, AreOfAsManyFlopsAsAreComputed) { GTEST_SKIP() << "peaks are known on x86-64"; }

#endif

}  // namespace
}  // namespace tandem

#include "kernels/peak/peaks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/clock.h"

namespace tandem {
namespace {

#if defined(__x86_64__) && !defined(TANDEM_SANITIZED)

/// The highest rate per second of work that `loop` does `count` times in a call.
template <class Loop>
double bestOf(double count, const Loop& loop) {
  constexpr int calls = 1000;
  double best = 0;
  for (int call = 0; call < calls; ++call) {
    const Nanos begin = now();
    loop();
    best = std::max(best, count / seconds(now() - begin));
  }
  return best;
}

/// Cycles per second of this core. Multiplications that wait for one another take three cycles each, by the tables of
/// Intel and AMD for all processors with AVX2.
double measuredClock() {
  constexpr int64_t count = 200'000, cycles = 3;
  return bestOf(cycles * count, [] {
    uint64_t value = 3;
    for (int64_t i = 0; i < count; ++i) asm volatile("imul %0, %0" : "+r"(value));
  });
}

// clang-format off
#define FMA(registers, sum) "vfmadd231ps %%" registers "14, %%" registers "15, %%" registers sum "\n\t"
#define TWELVE_FMAS(registers) \
  FMA(registers, "0") FMA(registers, "1") FMA(registers, "2") FMA(registers, "3") FMA(registers, "4") \
  FMA(registers, "5") FMA(registers, "6") FMA(registers, "7") FMA(registers, "8") FMA(registers, "9") \
  FMA(registers, "10") FMA(registers, "11")
#define ALL_REGISTERS "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
  "xmm12", "xmm13", "xmm14", "xmm15"

/// Fused multiply-adds per second, counted one by one: twelve that do not wait for one another, many times.
double fmasPerSecond(const std::string& loop) {
  constexpr int64_t count = 20'000, each = 12;
  asm volatile("vzeroall" : : : ALL_REGISTERS);
  if (loop == "avx2") {
    return bestOf(count * each, [] {
      for (int64_t i = 0; i < count; ++i) asm volatile(TWELVE_FMAS("ymm") : : : ALL_REGISTERS);
    });
  }
  return bestOf(count * each, [] {
    for (int64_t i = 0; i < count; ++i) asm volatile(TWELVE_FMAS("zmm") : : : ALL_REGISTERS);
  });
}
// clang-format on

/// FLOPs of a cycle at most, by the name of a loop: lanes x 2 (a product and a sum) x 2 ports; with bf16 a lane sums
/// two products. A product of AMX tiles takes 16 cycles.
const std::map<std::string, double> mostFlops{
    {"avx2", 8 * 2 * 2}, {"avx512", 16 * 2 * 2}, {"avx512_bf16", 16 * 2 * 2 * 2}, {"amx", 16 * 16 * 32 * 2 / 16}};

constexpr double slack = 1.2;  // the clock may rise for a while, and a neighbour may hold the other measurement

/// A loop that counts more FLOPs than it computes would be faster than the processor can be.
void expectPossible(Peak (*measure)(int threads)) {
  const double before = measuredClock();
  const Peak peak = measure(1);
  if (peak.perSecond == 0) GTEST_SKIP() << "this processor has no instruction for it";
  const double clock = std::max(before, measuredClock());
  ASSERT_TRUE(mostFlops.contains(peak.by)) << peak.by;
  EXPECT_LE(peak.perSecond, slack * mostFlops.at(peak.by) * clock) << peak.by << " at " << clock * 1e-9 << " GHz";
}

TEST(Peaks, Fp32IsWithinWhatTheClockAllows) { expectPossible(fp32Peak); }
TEST(Peaks, Bf16IsWithinWhatTheClockAllows) { expectPossible(bf16Peak); }

// Not every processor has two ports as wide as its registers. So its instructions are counted too.
TEST(Peaks, Fp32IsLanesTimesTwoOfEachInstruction) {
  const std::map<std::string, double> lanes{{"avx2", 8}, {"avx512", 16}};
  const Peak peak = fp32Peak(1);
  if (peak.perSecond == 0) GTEST_SKIP() << "this processor has no fused multiply-add";
  const double counted = lanes.at(peak.by) * 2 * fmasPerSecond(peak.by);
  EXPECT_LE(peak.perSecond, slack * counted);
  EXPECT_GE(peak.perSecond, 0.6 * counted) << "half of them would be counted";
}

#else

TEST(Peaks, AreWithinWhatTheClockAllows) {
  GTEST_SKIP() << "peaks are known on x86-64 and in builds without sanitizers";
}

#endif

}  // namespace
}  // namespace tandem

#include "kernels/peak/peaks.h"

#include <cpuid.h>
#include <immintrin.h>
#include <omp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>

#include "base/clock.h"

namespace tandem {
namespace {

// ---- copy

constexpr int64_t mebibyte = 1 << 20;

int64_t arrayBytes(int threads) {
  const auto lastLevelCache = static_cast<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE));
  return std::max({256 * mebibyte, 4 * lastLevelCache, 32 * mebibyte * threads});
}

// Each thread copies this many stretches side by side. The prefetcher follows each; one alone cannot fill the memory
// bus.
constexpr int64_t stretches = 4, vectorsOfLine = 4, vectorsOfBlock = stretches * vectorsOfLine;

/// Memory on huge pages if the system has them. It starts `stagger` bytes after a page border.
class Array {
 public:
  Array(int64_t bytes, int64_t stagger) : bytes_(static_cast<size_t>(bytes + stagger)), stagger_(stagger) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    madvise(memory_, bytes_, MADV_HUGEPAGE);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { munmap(memory_, bytes_); }
  __m128i* block(int64_t index) const {
    return reinterpret_cast<__m128i*>(static_cast<char*>(memory_) + stagger_) + index * vectorsOfBlock;
  }

 private:
  void* memory_;
  size_t bytes_;
  int64_t stagger_;
};

template <class Store>
void copyBlocks(const __m128i* from, __m128i* to, int64_t blocks, const Store& store) {
  for (int64_t line = 0; line < blocks; ++line) {
    for (int64_t stretch = 0; stretch < stretches; ++stretch) {
      const int64_t at = (stretch * blocks + line) * vectorsOfLine;
      for (int64_t i = at; i < at + vectorsOfLine; ++i) store(to + i, _mm_load_si128(from + i));
    }
  }
}

void copyShare(const __m128i* from, __m128i* to, int64_t blocks, Stores stores) {
  if (stores == Stores::ordinary) {
    return copyBlocks(from, to, blocks, [](__m128i* at, __m128i value) { _mm_store_si128(at, value); });
  }
  copyBlocks(from, to, blocks, [](__m128i* at, __m128i value) { _mm_stream_si128(at, value); });
  _mm_sfence();
}

/// Calls body(first, last) on every thread with its share of `count`, which is the same in every call.
template <class Body>
void onAllThreads(int threads, int64_t count, const Body& body) {
#pragma omp parallel num_threads(threads)
  {
    const int64_t team = omp_get_num_threads(), thread = omp_get_thread_num();
    body(count * thread / team, count * (thread + 1) / team);
  }
}

/// What is copied, and where to. The system takes long to make their pages.
struct CopiedArrays {
  const int64_t bytes, blocks;
  const Array from, to;

  // Loads wait for stores that lie a multiple of 4 KiB away. First writes give both arrays memory of their own; pages
  // that are never written all map to one page of zeros.
  explicit CopiedArrays(int threads)
      : bytes(arrayBytes(threads)),
        blocks(bytes / static_cast<int64_t>(vectorsOfBlock * sizeof(__m128i))),
        from(bytes, 0),
        to(bytes, 33 * 64) {
    onAllThreads(threads, blocks, [&](int64_t first, int64_t last) {
      for (const Array* array : {&from, &to}) std::fill(array->block(first), array->block(last), _mm_set1_epi32(1));
    });
  }
};

PeakLoop loopOver(const std::shared_ptr<const CopiedArrays>& arrays, int threads, Stores stores) {
  const double bytes = 2.0 * static_cast<double>(arrays->bytes);
  const auto run = [=] {
    onAllThreads(threads, arrays->blocks, [&](int64_t first, int64_t last) {
      copyShare(arrays->from.block(first), arrays->to.block(first), last - first, stores);
    });
    return bytes;
  };
  return {stores == Stores::streaming ? "streaming stores" : "ordinary stores", bytes, run};
}

// ---- arithmetic

// Each loop keeps enough sums that none waits for its own previous result. All products are 1, so that the sums count
// them: a loop returns the total of its sums, which is half of its FLOPs. One call stays far below 2^24 for each lane,
// where fp32 would no longer count.
using Loop = double (*)(int64_t repetitions);

template <class Vector, size_t count>
double total(const Vector (&sums)[count]) {
  std::array<float, count*(sizeof(Vector) / sizeof(float))> values;
  std::memcpy(values.data(), &sums, sizeof(sums));
  return std::accumulate(values.begin(), values.end(), 0.0);
}

__attribute__((target("avx512f"))) double fmaAvx512(int64_t repetitions) {
  __m512 sums[16];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  __m512 ones = _mm512_set1_ps(1);
  asm("" : "+v"(ones));  // the compiler must not see that they are 1: it would leave out the products
  for (int64_t repetition = 0; repetition < repetitions; ++repetition) {
#pragma GCC unroll 16
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(ones, ones, sum);
  }
  return total(sums);
}
constexpr double fmaAvx512Flops = 16 * 16 * 2;

__attribute__((target("avx2,fma"))) double fmaAvx2(int64_t repetitions) {
  __m256 sums[12];
  for (__m256& sum : sums) sum = _mm256_setzero_ps();
  __m256 ones = _mm256_set1_ps(1);
  asm("" : "+x"(ones));
  for (int64_t repetition = 0; repetition < repetitions; ++repetition) {
#pragma GCC unroll 12
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(ones, ones, sum);
  }
  return total(sums);
}
constexpr double fmaAvx2Flops = 12 * 8 * 2;

constexpr uint16_t bf16One = 0x3f80;

__attribute__((target("avx512f,avx512bf16"))) double dotAvx512(int64_t repetitions) {
  __m512 sums[16];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  const auto values = reinterpret_cast<__m512bh>(_mm512_set1_epi16(bf16One));
  for (int64_t repetition = 0; repetition < repetitions; ++repetition) {
#pragma GCC unroll 16
    for (__m512& sum : sums) sum = _mm512_dpbf16_ps(sum, values, values);
  }
  return total(sums);
}
constexpr double dotAvx512Flops = 16 * 16 * 2 * 2;

/// The operand of LDTILECFG: eight tiles of 16 rows of 64 bytes.
struct alignas(64) TileConfiguration {
  uint8_t palette = 1, startRow = 0;
  std::array<uint8_t, 14> reserved{};
  std::array<uint16_t, 16> rowBytes{64, 64, 64, 64, 64, 64, 64, 64};
  std::array<uint8_t, 16> rows{16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfiguration) == 64);

constexpr std::array<uint16_t, 512> filledTile() {
  std::array<uint16_t, 512> tile{};
  tile.fill(bf16One);
  return tile;
}

// Tiles 0 to 5 each sum the product of tiles 6 and 7. The operands are static, because the instructions' intrinsics
// tell the compiler only their addresses.
__attribute__((target("amx-tile,amx-bf16"))) double dotAmx(int64_t repetitions) {
  static constexpr TileConfiguration configuration;
  alignas(64) static constexpr std::array<uint16_t, 512> tile = filledTile();
  alignas(64) static thread_local std::array<float, 256> results[6];
  _tile_loadconfig(&configuration);
  _tile_loadd(6, tile.data(), 64);
  _tile_loadd(7, tile.data(), 64);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  for (int64_t repetition = 0; repetition < repetitions; ++repetition) {
    _tile_dpbf16ps(0, 6, 7);
    _tile_dpbf16ps(1, 6, 7);
    _tile_dpbf16ps(2, 6, 7);
    _tile_dpbf16ps(3, 6, 7);
    _tile_dpbf16ps(4, 6, 7);
    _tile_dpbf16ps(5, 6, 7);
  }
  _tile_stored(0, results[0].data(), 64);
  _tile_stored(1, results[1].data(), 64);
  _tile_stored(2, results[2].data(), 64);
  _tile_stored(3, results[3].data(), 64);
  _tile_stored(4, results[4].data(), 64);
  _tile_stored(5, results[5].data(), 64);
  _tile_release();
  return total(results);
}
constexpr double dotAmxFlops = 6 * 16 * 16 * 32 * 2;

// Linux gives the tiles' state only to processes that ask for it.
bool systemAllowsTiles() {
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

// Milliseconds of a thread: short enough that many calls run between two time slices of other programs.
constexpr double fp32FlopsOfCall = 4e8, bf16FlopsOfCall = 4e9;

// `flops`: of one repetition.
PeakLoop arithmetic(const char* name, Loop loop, double flops, double flopsOfCall, int threads) {
  const auto repetitions = static_cast<int64_t>(flopsOfCall / flops) + 1;
  const auto run = [=] {
    std::atomic<double> products = 0;
    onAllThreads(threads, threads,
                 [&](int64_t first, int64_t last) { products += loop((last - first) * repetitions); });
    return 2 * products;
  };
  return {name, flops * static_cast<double>(repetitions) * threads, run};
}

}  // namespace

double copyBytes(int threads) { return 2.0 * static_cast<double>(arrayBytes(threads)); }

PeakLoop copyLoop(int threads, Stores stores) {
  return loopOver(std::make_shared<const CopiedArrays>(threads), threads, stores);
}

std::optional<PeakLoop> fmaLoop(int threads) {
  if (__builtin_cpu_supports("avx512f"))
    return arithmetic("avx512", fmaAvx512, fmaAvx512Flops, fp32FlopsOfCall, threads);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return arithmetic("avx2", fmaAvx2, fmaAvx2Flops, fp32FlopsOfCall, threads);
  return std::nullopt;
}

// clang's __builtin_cpu_supports() does not know AMX.
bool hasAmxBf16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 22 & 1U) != 0;
}

std::optional<PeakLoop> bf16Loop(int threads) {
  if (hasAmxBf16() && systemAllowsTiles()) return arithmetic("amx", dotAmx, dotAmxFlops, bf16FlopsOfCall, threads);
  if (__builtin_cpu_supports("avx512bf16"))
    return arithmetic("avx512_bf16", dotAvx512, dotAvx512Flops, bf16FlopsOfCall, threads);
  return std::nullopt;
}

Peak bestRate(const PeakLoop& loop) {
  constexpr double enough = 0.5;  // seconds, so that interruptions by other programs pass
  constexpr int fewestCalls = 3;
  double best = 0;
  const Nanos begin = now();
  for (int calls = 0; calls < fewestCalls || seconds(now() - begin) < enough; ++calls) {
    const Nanos start = now();
    loop.run();
    best = std::max(best, loop.work / seconds(now() - start));
  }
  return {best, loop.name};
}

Peak copyPeak(int threads) {
  const auto arrays = std::make_shared<const CopiedArrays>(threads);
  const Peak streaming = bestRate(loopOver(arrays, threads, Stores::streaming));
  const Peak ordinary = bestRate(loopOver(arrays, threads, Stores::ordinary));
  return streaming.perSecond > ordinary.perSecond ? streaming : ordinary;
}

Peak fp32Peak(int threads) {
  const auto loop = fmaLoop(threads);
  return loop ? bestRate(*loop) : Peak{};
}

Peak bf16Peak(int threads) {
  const auto loop = bf16Loop(threads);
  return loop ? bestRate(*loop) : Peak{};
}

}  // namespace tandem

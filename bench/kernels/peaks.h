#pragma once

#include <functional>
#include <optional>
#include <string>

namespace tandem::bench {

/// A loop on all threads that does nothing but what it measures.
struct PeakLoop {
  std::string name;           ///< "streaming stores", "avx512"
  double work = 0;            ///< bytes or FLOPs of one call
  std::function<void()> run;  ///< one call, of milliseconds
};

enum class Stores {
  streaming,  ///< past the caches: the written lines are not read first
  ordinary,   ///< through the caches, as Tandem's kernels and ATen store
};

/// Copies an array far larger than the last-level cache; its work is the bytes read and written. (Ordinary stores also
/// read each line before it is written, which is not counted.) Throws std::bad_alloc.
PeakLoop copyLoop(int threads, Stores stores);
double copyBytes(int threads);  ///< its work

/// fp32 fused multiply-adds in registers, by the widest instructions that the processor has; nothing without AVX2.
std::optional<PeakLoop> fmaLoop(int threads);

/// bf16 products added in fp32: AMX tiles where processor and system allow them, else avx512_bf16, else nothing.
std::optional<PeakLoop> bf16Loop(int threads);

/// Work per second: the best call of half a second.
double bestRate(const PeakLoop& loop);

/// What this machine can do, in bytes or FLOPs per second; 0 where there is no instruction for it.
struct Peaks {
  int threads = 1;
  double copy = 0;  ///< the better of both kinds of stores
  double fp32 = 0, bf16 = 0;
  std::string copyBy, fp32By = "none", bf16By = "none";
};

Peaks measurePeaks(int threads);

}  // namespace tandem::bench

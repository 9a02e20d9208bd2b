#pragma once

#include <functional>
#include <optional>
#include <string>

namespace tandem {

/// What the processors and their memory can do, measured on x86-64 by its instructions; elsewhere nothing is known. All
/// run on an OpenMP team of `threads` threads, wherever the calling thread is pinned.

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

/// A measured peak in bytes or FLOPs per second; 0 where there is no instruction for it.
struct Peak {
  double perSecond = 0;
  std::string by = "none";
};

/// The best call of half a second, of three at the least.
Peak bestRate(const PeakLoop& loop);

Peak copyPeak(int threads);  ///< bytes, by the better of both kinds of stores
Peak fp32Peak(int threads);  ///< FLOPs
Peak bf16Peak(int threads);  ///< FLOPs

}  // namespace tandem

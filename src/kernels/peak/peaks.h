#pragma once

#include <functional>
#include <optional>
#include <string>

namespace tandem {

/// Measured peaks of the processors and their memory, on x86-64 by its instructions; elsewhere they are unknown. All
/// loops run on an OpenMP team of `threads` threads, on the cores that the calling thread is pinned to.

/// A loop on all threads that does only what it measures.
struct PeakLoop {
  std::string name;  ///< "streaming stores", "avx512"
  double work = 0;   ///< bytes or FLOPs of one call
  /// One call, which takes milliseconds. Returns the FLOPs that its sums show, or the bytes.
  std::function<double()> run;
};

enum class Stores {
  streaming,  ///< past the caches: a line is not read before it is written
  ordinary,   ///< through the caches, as Tandem's kernels and ATen store
};

/// Copies an array far larger than the last-level cache. Its work is the bytes read and written. Ordinary stores also
/// read each line before they write it, which is not counted. Throws std::bad_alloc.
PeakLoop copyLoop(int threads, Stores stores);
double copyBytes(int threads);  ///< the work of one call

/// fp32 fused multiply-adds in registers, with the processor's widest instructions; nullopt without AVX2.
std::optional<PeakLoop> fmaLoop(int threads);

/// bf16 products added in fp32: by AMX tiles if processor and system allow them, else avx512_bf16, else nullopt.
std::optional<PeakLoop> bf16Loop(int threads);

/// A measured peak in bytes or FLOPs per second; 0 if there is no instruction for it.
struct Peak {
  double perSecond = 0;
  std::string by = "none";
};

/// The rate of the best call within half a second, of at least three.
Peak bestRate(const PeakLoop& loop);

Peak copyPeak(int threads);  ///< bytes, with the faster kind of stores
Peak fp32Peak(int threads);  ///< FLOPs
Peak bf16Peak(int threads);  ///< FLOPs

}  // namespace tandem

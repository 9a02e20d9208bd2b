// Kernels against their ATen compositions and against the machine.
//
//   make bench-kernels                                             all rows, a few minutes
//   make bench-kernels ARGS='--benchmark_filter=norm_act.*bf16'    some; --help lists the other options
//   OMP_NUM_THREADS=8 OMP_PROC_BIND=close make bench-kernels       on eight threads that stay where they are
//
// First the machine is measured, on as many threads as libtorch uses, and printed with the context:
//
//   copy       bytes read and written per second by a copy of arrays far larger than the last-level cache
//   fma_fp32   FLOP/s of fused multiply-adds in registers
//   dot_bf16   FLOP/s of bf16 products added in fp32, by AMX or avx512_bf16; none: the processor has neither
//
// Each is the best call of half a second. The rows of these names repeat them: a share below 1 is what another load, a
// lower clock or a bound of the cgroup takes at that moment. A share of a peak above 1, here or of a convolution, says
// that the peak was measured under load (on a virtual machine also under a neighbour's): run again.
//
// A row is named operation/shape/type/implementation. `kernel` is Tandem's (src/kernels), `aten` does the same by ATen
// operations; they stand one below the other. Time is that of the wall; where it is well above CPU, other programs had
// the cores, and the row (and peaks taken then) says little.
//
//   bytes/s    the minimum traffic of the operation (said at the top of each source) / time. It is the same number of
//              bytes for both implementations, so bytes/s compare as speeds do.
//   of_copy    bytes/s / copy. Near 1 the operation is as fast as memory is; somewhat beyond 1 when it reads more than
//              it writes, or updates in place (memory is read faster than written). All rows use the same tensors in
//              each call: what fits into the caches goes far beyond 1, and what is too small for all threads, or for
//              the cost of a call, stays far below.
//   FLOP/s     of a convolution, by the textbook's count.
//   of_peak    FLOP/s / fma_fp32 or dot_bf16.
//
// copy/ordinary_stores is what code can reach that stores through the caches, as the kernels do: the processor reads
// each line before it is written. (The warning "Library was built as DEBUG" is of Debian's package: its assertions cost
// nanoseconds between calls.)
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <benchmark/benchmark.h>
#include <cpuid.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/text.h"
#include "device/allocator/cpu_allocator.h"
#include "rows.h"

namespace tandem::bench {
namespace {

/// As the processor calls itself.
std::string cpuModel() {
  std::array<unsigned, 12> words{};
  for (unsigned leaf = 0; leaf < 3; ++leaf) {
    unsigned* const part = words.data() + 4 * leaf;
    if (__get_cpuid(0x80000002 + leaf, part, part + 1, part + 2, part + 3) == 0) return "unknown";
  }
  std::array<char, sizeof(words) + 1> name{};
  std::memcpy(name.data(), words.data(), sizeof(words));
  return name.data();
}

std::string rateText(const Peak& peak, const char* unit) {
  return peak.perSecond > 0 ? concat(fixed(peak.perSecond / 1e9, 1), " ", unit, ", ", peak.by) : peak.by;
}

void addContext(const Peaks& peaks) {
  benchmark::AddCustomContext("cpu", cpuModel());
  benchmark::AddCustomContext("threads", std::to_string(peaks.threads));
  benchmark::AddCustomContext("peak copy", rateText(peaks.copy, "GB/s"));
  benchmark::AddCustomContext("peak fma_fp32", rateText(peaks.fp32, "GFLOP/s"));
  benchmark::AddCustomContext("peak dot_bf16", rateText(peaks.bf16, "GFLOP/s"));
}

void addRows(const Peaks& peaks) {
  addPeakRows(peaks);
  addNormActRows(peaks);
  addChannelGateRows(peaks);
  addTransformerRows(peaks);
  addSgdRows(peaks);
  addAdamRows(peaks);
  addRmspropRows(peaks);
  addSoftmaxCrossEntropyRows(peaks);
  addNormalizeRows(peaks);
  addSumRows(peaks);
  addConvolutionRows(peaks);
}

int run(std::vector<char*> arguments) {
  // Before all others, so that they may say otherwise.
  std::string tabular = "--benchmark_counters_tabular=true";
  arguments.insert(arguments.begin() + 1, tabular.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  installCpuAllocator();
  const at::NoGradGuard noGradients;
  const int threads = at::get_num_threads();
  const Peaks peaks{threads, copyPeak(threads), fp32Peak(threads), bf16Peak(threads)};
  addContext(peaks);
  addRows(peaks);
  const bool found = benchmark::RunSpecifiedBenchmarks() > 0;
  benchmark::Shutdown();
  return found ? 0 : 2;
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) { return tandem::bench::run(std::vector<char*>(argv, argv + argc)); }

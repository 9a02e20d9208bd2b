#pragma once

#include <cstdint>

namespace tandem {

/// Makes a caching allocator on huge pages libtorch's CPU allocator for the life of the process.
///
/// Blocks are kept and reused, so that a steady training step makes no mmap and no page fault: those below 256 KiB in
/// size classes (four per power of two), larger ones in a heap, best fit, where free neighbours become one. A heap
/// grows by what is missing, so that little more is held than was ever in use at once. All lie in mappings that start
/// on huge pages and are advised MADV_HUGEPAGE. Memory is 64-byte aligned and never given back. Each thread allocates
/// from lists and a heap of its own, which a later one of its NUMA node takes over, so that memory stays there; any
/// thread may free. When the system refuses, allocation throws c10::OutOfMemoryError with the bytes asked.
///
/// Does nothing under a sanitizer. Call once, before the first tensor.
void installCpuAllocator();

/// Bytes taken from the system for blocks and kept since, and how often no kept block fitted.
struct CpuAllocatorUse {
  int64_t heldBytes = 0;
  int64_t misses = 0;
};
CpuAllocatorUse cpuAllocatorUse();

}  // namespace tandem

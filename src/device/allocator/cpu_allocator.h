#pragma once

#include <cstdint>

namespace tandem {

/// Makes a caching allocator on huge pages libtorch's CPU allocator for the life of the process.
///
/// Freed blocks are kept and reused, so a steady training step causes no mmap and no page fault. Blocks below 256 KiB
/// have size classes (four per power of two). Larger blocks come from a best-fit heap that joins free neighbours. A
/// heap grows by the missing bytes only, so it holds little more than was ever in use at once. All mappings start on
/// huge pages and are advised MADV_HUGEPAGE. Memory is 64-byte aligned and never returned to the system.
///
/// Each thread allocates from its own lists and heap; any thread may free. When a thread ends, a later thread of its
/// NUMA node takes them over, so the memory stays on that node. If the system refuses memory, allocation throws
/// c10::OutOfMemoryError with the bytes asked.
///
/// Does nothing under a sanitizer. Call once, before the first tensor.
void installCpuAllocator();

/// Bytes obtained from the system for blocks and still held, and how many requests no kept block could serve.
struct CpuAllocatorUse {
  int64_t heldBytes = 0;
  int64_t misses = 0;
};
CpuAllocatorUse cpuAllocatorUse();

}  // namespace tandem

#pragma once

#include <cstdint>

namespace tandem {

/// Makes a caching allocator on huge pages libtorch's CPU allocator for the life of the process.
///
/// Blocks are kept in size classes (four per power of two) and reused, so that a steady training step makes no mmap
/// and no page fault. Blocks of 2 MiB and more are 2 MiB-aligned mappings, smaller ones are cut from 16 MiB chunks that
/// are; all are advised MADV_HUGEPAGE. Memory is 64-byte aligned and never given back. Each thread allocates from lists
/// of its own, which a later one of its NUMA node takes over, so that memory stays there; any thread may free. When the
/// system refuses, allocation throws c10::OutOfMemoryError with the bytes asked.
///
/// Does nothing under a sanitizer. Call once, before the first tensor.
void installCpuAllocator();

/// Bytes handed out at least once and kept since, and how often no kept block fitted.
struct CpuAllocatorUse {
  int64_t heldBytes = 0;
  int64_t misses = 0;
};
CpuAllocatorUse cpuAllocatorUse();

}  // namespace tandem

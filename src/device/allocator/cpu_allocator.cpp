#include "device/allocator/cpu_allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "base/text.h"
#include "device/allocator/block_heap.h"
#include "device/allocator/size_classes.h"

namespace tandem {
namespace {

#ifdef TANDEM_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

constexpr size_t hugePage = size_t{2} << 20;
constexpr size_t chunkBytes = 8 * hugePage;
constexpr size_t heapFrom = size_t{256} << 10;
constexpr size_t cacheLine = 64;
constexpr size_t smallPage = 4096;
constexpr size_t mostBytes = size_t{1} << 60;  // above any machine's memory; sums of sizes below it cannot overflow

// Lies in the cache line before the block that the caller gets.
struct alignas(cacheLine) Header {
  Header* next;
  size_t heapBytes;  // this header included; 0: the block belongs to a size class
  int sizeClass, shard;
};
static_assert(sizeof(Header) == cacheLine);

constexpr int noNode = -1;

Mutex shardsMutex;

// One thread at a time allocates from a shard: free lists of small blocks by size class, and a heap of large blocks. A
// freed block returns to the shard that it came from.
struct alignas(2 * cacheLine) Shard {
  Mutex mutex;
  std::array<Header*, SizeClasses::count> free TANDEM_GUARDED_BY(mutex){};
  BlockHeap heap TANDEM_GUARDED_BY(mutex);
  uintptr_t heapEnd TANDEM_GUARDED_BY(mutex) = 0;  // end of the newest range; 0: there is none yet
  char* chunk TANDEM_GUARDED_BY(mutex) = nullptr;
  size_t chunkLeft TANDEM_GUARDED_BY(mutex) = 0;
  bool taken TANDEM_GUARDED_BY(shardsMutex) = false;
  // NUMA node of the memory: where the last thread ran when it took the shard.
  int node TANDEM_GUARDED_BY(shardsMutex) = noNode;
};

constexpr int shardCount = 64;
std::atomic<int> threadsSeen{0};
std::atomic<int64_t> heldBytes{0}, misses{0};

// Never destroyed: tensors in static objects are freed after main.
std::array<Shard, shardCount>& shards() {
  static auto& all = *new std::array<Shard, shardCount>;
  return all;
}

Shard& shardAt(int index) { return shards()[static_cast<size_t>(index)]; }

// A thread keeps its shard until it ends. A new thread then takes the shard over with all its blocks, if possible one
// of the same NUMA node. If there are more threads than shards, threads share.
thread_local int myShard = -1;

struct ShardLease {
  bool owner = false;
  ~ShardLease() {
    if (!owner) return;
    const MutexLock lock(shardsMutex);
    shardAt(myShard).taken = false;
  }
};
thread_local ShardLease lease;

int nodeOfThread() {
  unsigned node = 0;
  return getcpu(nullptr, &node) == 0 ? static_cast<int>(node) : noNode;
}

int takeShard() {
  const int node = nodeOfThread();
  const MutexLock lock(shardsMutex);
  const auto strangeness = [node](const Shard& shard) TANDEM_REQUIRES(shardsMutex) {
    if (shard.taken) return 3;
    if (shard.node == node) return 0;
    return shard.node == noNode ? 1 : 2;
  };
  const auto best = std::ranges::min_element(shards(), {}, strangeness);
  if (best->taken) return threadsSeen.fetch_add(1) % shardCount;
  best->taken = lease.owner = true;
  best->node = node;
  return static_cast<int>(best - shards().begin());
}

Shard& shardOfThread() {
  if (myShard < 0) myShard = takeShard();
  return shardAt(myShard);
}

[[noreturn]] void throwOutOfMemory(size_t bytes, int error) {
  TORCH_CHECK_WITH(
      OutOfMemoryError, false,
      concat("out of memory on the CPU: the system refused ", bytes, " bytes (", bytesText(static_cast<double>(bytes)),
             ") beside ", bytesText(static_cast<double>(heldBytes.load())), " held: ", std::strerror(error)));
}

constexpr int memoryAccess = PROT_READ | PROT_WRITE, memoryKind = MAP_PRIVATE | MAP_ANONYMOUS;

// Maps new memory that starts on a huge page. `asked`: the size of the request, for the error text.
char* mapAligned(size_t bytes, size_t asked) {
  void* raw = mmap(nullptr, bytes + hugePage, memoryAccess, memoryKind, -1, 0);
  if (raw == MAP_FAILED) throwOutOfMemory(asked, errno);
  char* const begin = static_cast<char*>(raw);
  const size_t head = (hugePage - reinterpret_cast<uintptr_t>(begin) % hugePage) % hugePage;
  if (head > 0) munmap(begin, head);
  if (hugePage - head > 0) munmap(begin + head + bytes, hugePage - head);
  madvise(begin + head, bytes, MADV_HUGEPAGE);
  return begin + head;
}

// Maps `bytes` at the address `begin`; false if any of them was mapped already.
bool mapAt(uintptr_t begin, size_t bytes) {
  void* const wanted = reinterpret_cast<void*>(begin);
  void* const raw = mmap(wanted, bytes, memoryAccess, memoryKind | MAP_FIXED_NOREPLACE, -1, 0);
  if (raw == MAP_FAILED) return false;
  if (raw != wanted) {  // an old kernel takes the address as a hint only
    munmap(raw, bytes);
    return false;
  }
  madvise(raw, bytes, MADV_HUGEPAGE);
  return true;
}

constexpr size_t roundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// The address where a shard's heap begins if it is free. It lies far below the addresses that the system chooses, so
// each heap can grow in one piece.
uintptr_t heapBase(const Shard& shard) {
  constexpr uintptr_t first = uintptr_t{1} << 44, room = uintptr_t{1} << 39;
  return first + static_cast<uintptr_t>(&shard - shards().data()) * room;
}

// Grows the heap until it has a free block of `bytes`: at its end, or with a range elsewhere if the end is taken.
void growHeap(Shard& shard, size_t bytes, size_t asked) TANDEM_REQUIRES(shard.mutex) {
  const uintptr_t end = shard.heapEnd == 0 ? heapBase(shard) : shard.heapEnd;
  size_t more = roundUp(bytes - shard.heap.freeBefore(end), hugePage);
  uintptr_t begin = end;
  if (!mapAt(end, more)) {
    more = roundUp(bytes, hugePage);
    begin = reinterpret_cast<uintptr_t>(mapAligned(more, asked));
  }
  shard.heap.give(begin, more);
  shard.heapEnd = begin + more;
  heldBytes.fetch_add(static_cast<int64_t>(more), std::memory_order_relaxed);
  misses.fetch_add(1, std::memory_order_relaxed);
}

// Blocks of equal size lie side by side. The stagger gives each block another distance from a page border. Otherwise
// the same element of equal tensors would fall into one cache set, and loads would wait for stores 4 KiB apart.
constexpr size_t heapBlockBytes(size_t bytes) {
  constexpr size_t stagger =
      17 * cacheLine;  // an odd number of lines, so that multiples of it reach every line of a page
  return roundUp(bytes + sizeof(Header), smallPage) + stagger;
}

Header* takeFromHeap(Shard& shard, size_t bytes) TANDEM_REQUIRES(shard.mutex) {
  const size_t whole = heapBlockBytes(bytes);
  std::optional<uintptr_t> begin = shard.heap.take(whole);
  if (!begin) {
    growHeap(shard, whole, bytes);
    begin = shard.heap.take(whole);
  }
  auto* header = reinterpret_cast<Header*>(*begin);
  *header = {nullptr, whole, 0, myShard};
  return header;
}

Header* cutFromChunk(Shard& shard, int sizeClass, size_t asked) TANDEM_REQUIRES(shard.mutex) {
  const size_t bytes = SizeClasses::bytesOf(sizeClass) + sizeof(Header);
  if (shard.chunkLeft < bytes) {
    shard.chunk = mapAligned(chunkBytes, asked);
    shard.chunkLeft = chunkBytes;
  }
  auto* header = reinterpret_cast<Header*>(shard.chunk);
  shard.chunk += bytes;
  shard.chunkLeft -= bytes;
  return header;
}

// Takes a block of this class or of the next two. So the memory held does not grow with every new mix of sizes.
Header* takeFree(Shard& shard, int sizeClass) TANDEM_REQUIRES(shard.mutex) {
  for (int candidate = sizeClass; candidate < std::min(sizeClass + 3, SizeClasses::count); ++candidate) {
    Header*& head = shard.free[static_cast<size_t>(candidate)];
    if (head) return std::exchange(head, head->next);
  }
  return nullptr;
}

Header* takeSmall(Shard& shard, size_t bytes) TANDEM_REQUIRES(shard.mutex) {
  const int sizeClass = SizeClasses::classOf(bytes);
  if (Header* const header = takeFree(shard, sizeClass)) return header;
  Header* const header = cutFromChunk(shard, sizeClass, bytes);
  *header = {nullptr, 0, sizeClass, myShard};
  heldBytes.fetch_add(static_cast<int64_t>(SizeClasses::bytesOf(sizeClass)), std::memory_order_relaxed);
  misses.fetch_add(1, std::memory_order_relaxed);
  return header;
}

void* allocateBlock(size_t bytes) {
  if (bytes > mostBytes) throwOutOfMemory(bytes, ENOMEM);
  Shard& shard = shardOfThread();
  const MutexLock lock(shard.mutex);
  return 1 + (bytes < heapFrom ? takeSmall(shard, bytes) : takeFromHeap(shard, bytes));
}

void freeBlock(void* memory) {
  if (!memory) return;
  Header* header = static_cast<Header*>(memory) - 1;
  Shard& shard = shardAt(header->shard);
  const MutexLock lock(shard.mutex);
  if (header->heapBytes > 0) return shard.heap.give(reinterpret_cast<uintptr_t>(header), header->heapBytes);
  header->next = std::exchange(shard.free[static_cast<size_t>(header->sizeClass)], header);
}

class CachingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    void* memory = bytes == 0 ? nullptr : allocateBlock(bytes);
    return {memory, memory, &freeBlock, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &freeBlock; }
  void copy_data(void* target, const void* source, size_t bytes) const override {
    default_copy_data(target, source, bytes);
  }
};

}  // namespace

void installCpuAllocator() {
  if constexpr (sanitized) return;
  static auto* const allocator = new CachingAllocator;
  constexpr uint8_t aboveAllOthers = 255;
  c10::SetCPUAllocator(allocator, aboveAllOthers);
}

CpuAllocatorUse cpuAllocatorUse() { return {heldBytes.load(), misses.load()}; }

}  // namespace tandem

#include "device/cpu_allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "device/size_classes.h"

namespace tandem {
namespace {

#ifdef TANDEM_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

constexpr size_t hugePage = size_t{2} << 20;
constexpr size_t chunkBytes = 8 * hugePage;
constexpr size_t ownMappingFrom = hugePage;
constexpr size_t cacheLine = 64;
constexpr size_t smallPage = 4096;

// Lies in the cache line before the memory handed out.
struct alignas(cacheLine) Header {
  Header* next;
  int sizeClass, shard;
};
static_assert(sizeof(Header) == cacheLine);

constexpr int noNode = -1;

// Free lists of one thread at a time. A block returns to the shard it came from.
struct alignas(2 * cacheLine) Shard {
  std::mutex mutex;
  std::array<Header*, SizeClasses::count> free{};
  std::array<uint8_t, SizeClasses::count> made{};
  char* chunk = nullptr;
  size_t chunkLeft = 0;
  bool taken = false;
  int node = noNode;  // of the memory: where its last thread ran when it took it
};

constexpr int shardCount = 64;
std::array<Shard, shardCount> shards;
std::mutex shardsMutex;
std::atomic<int> threadsSeen{0};
std::atomic<int64_t> heldBytes{0}, misses{0};

// A thread keeps its shard until it ends; the next new thread, of the same NUMA node if there is one, then takes it
// over with all its blocks. With more threads than shards they share.
thread_local int myShard = -1;

struct ShardLease {
  bool owner = false;
  ~ShardLease() {
    if (!owner) return;
    const std::lock_guard lock(shardsMutex);
    shards[static_cast<size_t>(myShard)].taken = false;
  }
};
thread_local ShardLease lease;

int nodeOfThread() {
  unsigned node = 0;
  return getcpu(nullptr, &node) == 0 ? static_cast<int>(node) : noNode;
}

int takeShard() {
  const int node = nodeOfThread();
  const std::lock_guard lock(shardsMutex);
  const auto strangeness = [node](const Shard& shard) {
    if (shard.taken) return 3;
    if (shard.node == node) return 0;
    return shard.node == noNode ? 1 : 2;
  };
  const auto best = std::ranges::min_element(shards, {}, strangeness);
  if (best->taken) return threadsSeen.fetch_add(1) % shardCount;
  best->taken = lease.owner = true;
  best->node = node;
  return static_cast<int>(best - shards.begin());
}

Shard& shardOfThread() {
  if (myShard < 0) myShard = takeShard();
  return shards[static_cast<size_t>(myShard)];
}

[[noreturn]] void throwOutOfMemory(size_t bytes, int error) {
  TORCH_CHECK_WITH(
      OutOfMemoryError, false,
      concat("out of memory on the CPU: the system refused ", bytes, " bytes (", bytesText(static_cast<double>(bytes)),
             ") beside ", bytesText(static_cast<double>(heldBytes.load())), " held: ", std::strerror(error)));
}

// Fresh memory that starts on a huge page, for a request of `asked` bytes.
char* mapAligned(size_t bytes, size_t asked) {
  void* raw = mmap(nullptr, bytes + hugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) throwOutOfMemory(asked, errno);
  char* const begin = static_cast<char*>(raw);
  const size_t head = (hugePage - reinterpret_cast<uintptr_t>(begin) % hugePage) % hugePage;
  if (head > 0) munmap(begin, head);
  if (hugePage - head > 0) munmap(begin + head + bytes, hugePage - head);
  madvise(begin + head, bytes, MADV_HUGEPAGE);
  return begin + head;
}

// Large blocks start at different distances from the 2 MiB boundary, or the same element of equally large tensors
// would fall into the same cache set (and loads would wait for stores 4 KiB apart).
Header* makeLarge(int sizeClass, uint8_t turn, size_t asked) {
  const size_t stagger = turn % 15 * 4 * cacheLine;
  return reinterpret_cast<Header*>(mapAligned(SizeClasses::bytesOf(sizeClass) + smallPage, asked) + stagger);
}

// REQUIRES: the shard's lock is held.
Header* cutFromChunk(Shard& shard, int sizeClass, size_t asked) {
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

// The class itself or one of the next two: memory held must not grow with every new pattern of sizes.
// REQUIRES: the shard's lock is held.
Header* takeFree(Shard& shard, int sizeClass) {
  for (int candidate = sizeClass; candidate < std::min(sizeClass + 3, SizeClasses::count); ++candidate) {
    Header*& head = shard.free[static_cast<size_t>(candidate)];
    if (head) return std::exchange(head, head->next);
  }
  return nullptr;
}

void* allocateBlock(size_t bytes) {
  const int sizeClass = SizeClasses::classOf(bytes);
  if (sizeClass >= SizeClasses::count) throwOutOfMemory(bytes, ENOMEM);
  Shard& shard = shardOfThread();
  std::unique_lock lock(shard.mutex);
  Header* header = takeFree(shard, sizeClass);
  if (!header) {
    const size_t size = SizeClasses::bytesOf(sizeClass);
    if (size < ownMappingFrom) {
      header = cutFromChunk(shard, sizeClass, bytes);
    } else {
      const uint8_t turn = shard.made[static_cast<size_t>(sizeClass)]++;
      lock.unlock();
      header = makeLarge(sizeClass, turn, bytes);
    }
    *header = {nullptr, sizeClass, myShard};
    heldBytes.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed);
    misses.fetch_add(1, std::memory_order_relaxed);
  }
  return header + 1;
}

void freeBlock(void* memory) {
  if (!memory) return;
  Header* header = static_cast<Header*>(memory) - 1;
  Shard& shard = shards[static_cast<size_t>(header->shard)];
  const std::lock_guard lock(shard.mutex);
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
  // Never destroyed: tensors in static objects outlive main.
  static auto* const allocator = new CachingAllocator;
  constexpr uint8_t aboveAllOthers = 255;
  c10::SetCPUAllocator(allocator, aboveAllOthers);
}

CpuAllocatorUse cpuAllocatorUse() { return {heldBytes.load(), misses.load()}; }

}  // namespace tandem

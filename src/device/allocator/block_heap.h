#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tandem {

/// The free addresses of some ranges. take() prefers the block of exactly the requested size that was given back last,
/// because caches may still hold it. Otherwise it cuts the best fit, and of equal fits the lowest. Free neighbours are
/// joined only when nothing else fits. Never touches the memory itself. Not thread-safe.
class BlockHeap {
 public:
  /// Marks `bytes` from `begin` on as free: a new range, or a block that take() returned.
  void give(uintptr_t begin, size_t bytes);
  /// The begin of `bytes` that were free; nullopt if no free block is large enough.
  std::optional<uintptr_t> take(size_t bytes);
  /// The number of free bytes that end at `end`, joined neighbours included.
  size_t freeBefore(uintptr_t end);

 private:
  void join();
  void join(uintptr_t begin, size_t bytes);
  std::optional<uintptr_t> cut(size_t bytes);
  void insert(uintptr_t begin, size_t bytes);
  void erase(std::map<uintptr_t, size_t>::iterator block);

  std::unordered_map<size_t, std::vector<uintptr_t>> recent_;  // by size; not joined with neighbours yet
  std::map<uintptr_t, size_t> byAddress_;                      // begin and bytes of every other free block
  std::set<std::pair<size_t, uintptr_t>> bySize_;
};

}  // namespace tandem

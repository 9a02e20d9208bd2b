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

/// Which addresses of some ranges are free. A block of just the size that is asked is the one given back last, which
/// caches may still hold; else the best fit, of equals the lowest, is cut. Free neighbours become one when nothing else
/// fits. Knows nothing of the memory itself. Not thread-safe.
class BlockHeap {
 public:
  /// Makes `bytes` from `begin` on free: a new range, or what take() gave.
  void give(uintptr_t begin, size_t bytes);
  /// The begin of `bytes` that were free; none where no free block is as large.
  std::optional<uintptr_t> take(size_t bytes);
  /// Free bytes that end at `end`, neighbours included.
  size_t freeBefore(uintptr_t end);

 private:
  void join();
  void join(uintptr_t begin, size_t bytes);
  std::optional<uintptr_t> cut(size_t bytes);
  void insert(uintptr_t begin, size_t bytes);
  void erase(std::map<uintptr_t, size_t>::iterator block);

  std::unordered_map<size_t, std::vector<uintptr_t>> recent_;  // by size, not joined yet
  std::map<uintptr_t, size_t> byAddress_;                      // bytes of each other free block
  std::set<std::pair<size_t, uintptr_t>> bySize_;
};

}  // namespace tandem

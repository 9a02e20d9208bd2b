#include "device/allocator/block_heap.h"

#include <iterator>

namespace tandem {

// Blocks are not joined when they come back: a training step asks for the same sizes again in the next step.
void BlockHeap::give(uintptr_t begin, size_t bytes) { recent_[bytes].push_back(begin); }

void BlockHeap::join() {
  for (const auto& [bytes, begins] : recent_) {
    for (const uintptr_t begin : begins) join(begin, bytes);
  }
  recent_.clear();
}

// A freed block joins the free block that ends at its begin and the one that begins at its end. `byAddress_` is
// ordered, so both are neighbours of the place where it would be inserted.
void BlockHeap::join(uintptr_t begin, size_t bytes) {
  const auto after = byAddress_.lower_bound(begin);
  if (after != byAddress_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      begin = before->first;
      bytes += before->second;
      erase(before);
    }
  }
  if (after != byAddress_.end() && begin + bytes == after->first) {
    bytes += after->second;
    erase(after);
  }
  insert(begin, bytes);
}

// First a returned block of exactly this size, the last one first: its lines may still be in a cache. Joining all
// others costs a walk through every returned block, so it comes last.
std::optional<uintptr_t> BlockHeap::take(size_t bytes) {
  const auto same = recent_.find(bytes);
  if (same != recent_.end() && !same->second.empty()) {
    const uintptr_t begin = same->second.back();
    same->second.pop_back();
    return begin;
  }
  if (const auto begin = cut(bytes)) return begin;
  join();
  return cut(bytes);
}

// Best fit: the set is ordered by size, then by address, so the first fit is the smallest and the lowest.
std::optional<uintptr_t> BlockHeap::cut(size_t bytes) {
  const auto best = bySize_.lower_bound({bytes, 0});
  if (best == bySize_.end()) return std::nullopt;
  const auto [free, begin] = *best;
  erase(byAddress_.find(begin));
  if (free > bytes) insert(begin + bytes, free - bytes);
  return begin;
}

// After join() at most one free block can end at `end`.
size_t BlockHeap::freeBefore(uintptr_t end) {
  join();
  const auto after = byAddress_.lower_bound(end);
  if (after == byAddress_.begin()) return 0;
  const auto before = std::prev(after);
  return before->first + before->second == end ? before->second : 0;
}

void BlockHeap::insert(uintptr_t begin, size_t bytes) {
  byAddress_.emplace(begin, bytes);
  bySize_.emplace(bytes, begin);
}

void BlockHeap::erase(std::map<uintptr_t, size_t>::iterator block) {
  bySize_.erase({block->second, block->first});
  byAddress_.erase(block);
}

}  // namespace tandem

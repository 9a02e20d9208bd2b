#include "data/loader/epoch_order.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "data/transform/counter_random.h"

namespace tandem {
namespace {

/// Fisher-Yates.
void shuffle(std::span<uint32_t> order, CounterRandom& random) {
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
}

EpochOrder numbers(size_t count) {
  EpochOrder all(count);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

/// Shards in random order, the samples of each in theirs.
EpochOrder byShards(std::span<const int64_t> ends, CounterRandom& random) {
  EpochOrder shards = numbers(ends.size()), order;
  shuffle(shards, random);
  for (const uint32_t shard : shards) {
    for (int64_t i = shard == 0 ? 0 : ends[shard - 1]; i < ends[shard]; ++i) order.push_back(static_cast<uint32_t>(i));
  }
  return order;
}

/// What leaves a buffer of this size when `order` goes through it.
void throughBuffer(std::span<uint32_t> order, size_t size, CounterRandom& random) {
  EpochOrder held(order.begin(), order.begin() + static_cast<ptrdiff_t>(std::min(size, order.size())));
  size_t out = 0;
  for (size_t next = held.size(); next < order.size(); ++next) {
    uint32_t& taken = held[random.below(held.size())];
    const uint32_t entering = order[next];
    order[out++] = std::exchange(taken, entering);
  }
  shuffle(held, random);
  std::ranges::copy(held, order.begin() + static_cast<ptrdiff_t>(out));
}

}  // namespace

EpochOrder epochOrder(const Dataset& dataset, uint64_t seed, int64_t epoch, int64_t buffer) {
  CounterRandom random(randomKey(RandomUse::order, seed, static_cast<uint64_t>(epoch)));
  if (buffer > 0) {
    EpochOrder order = byShards(dataset.shardEnds(), random);
    throughBuffer(order, static_cast<size_t>(buffer), random);
    return order;
  }
  EpochOrder order = numbers(static_cast<size_t>(dataset.size()));
  shuffle(order, random);
  return order;
}

}  // namespace tandem

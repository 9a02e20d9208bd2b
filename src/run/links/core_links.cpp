#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "machine/cpu/topology.h"
#include "run/links/link_order.h"

namespace tandem {
namespace {

constexpr int writer = 0, reader = 1, both = 2;
constexpr int64_t flagBytes = sizeof(int32_t);

/// What the two threads of a link share. Each counter has a cache line of its own and is written by one thread alone.
struct Mailbox {
  alignas(64) std::atomic<int32_t> written{0};  ///< messages that the writer has written
  alignas(64) std::atomic<int32_t> taken{0};    ///< messages that the reader has taken
  std::span<std::byte> memory;                  ///< the message; the writer's, in memory that it touched first
};

/// Spins without a pause, which would be part of the time. Throws PeerError if the other thread failed.
void await(const std::atomic<int32_t>& counter, int32_t value, const Monitor& monitor) {
  while (counter.load(std::memory_order_acquire) != value) {
    if (monitor.aborted()) throw PeerError("links: the other core of a pair failed");
  }
}

/// One of the two threads.
struct End {
  Mailbox& box;
  Monitor& monitor;
  int32_t turn = 0;  ///< messages so far

  /// A round trip of a flag; half of it is one hand-over.
  double handOver(int party, int64_t calls) {
    const Nanos begin = now();
    for (int64_t i = 0; i < calls; ++i) {
      ++turn;
      if (party == writer) box.written.store(turn, std::memory_order_release);
      if (party == reader) await(box.written, turn, monitor);
      if (party == reader) box.taken.store(turn, std::memory_order_release);
      if (party == writer) await(box.taken, turn, monitor);
    }
    return party == writer ? seconds(now() - begin) / 2 : 0;
  }

  /// Writes messages, each of other bytes than the one before. The time counts at the reader alone.
  double write(int64_t calls) {
    for (int64_t i = 0; i < calls; ++i) {
      ++turn;
      std::memset(box.memory.data(), turn & 0xFF, box.memory.size());
      box.written.store(turn, std::memory_order_release);
      await(box.taken, turn, monitor);
    }
    return 0;
  }

  /// Copies messages to memory of its own, and checks that they are what was written.
  double read(int64_t calls, std::span<std::byte> own) {
    Nanos taken{};
    for (int64_t i = 0; i < calls; ++i) {
      await(box.written, ++turn, monitor);
      const Nanos begin = now();
      std::memcpy(own.data(), box.memory.data(), own.size());
      taken += now() - begin;
      const auto expected = static_cast<std::byte>(turn & 0xFF);
      check(own.front() == expected && own.back() == expected, "a core reads what the other one wrote");
      box.taken.store(turn, std::memory_order_release);
    }
    return seconds(taken);
  }
};

LinkSeries seriesOf(const ThreadPair& pair, std::string way) {
  return {.kind = "cores",
          .link = concat("cores ", pair.writer, " and ", pair.reader),
          .path = pair.shares,
          .way = std::move(way)};
}

/// Memory that the calling thread touches first, so that it lies at its NUMA node.
std::unique_ptr<std::byte[]> touched(int64_t bytes) {
  auto memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(bytes));
  std::memset(memory.get(), 0, static_cast<size_t>(bytes));
  return memory;
}

/// Runs `measure` on both threads of a pair, each on its core. Returns what the reader measured.
template <class Measure>
LinkTimes onPair(const ThreadPair& pair, int64_t bytes, const Measure& measure) {
  Monitor monitor(/*block=*/false);
  const auto parties = threadParties(monitor, both);
  Mailbox box;
  LinkTimes times;
  onThreads(monitor, both, [&](int party) {
    pinThread({party == writer ? pair.writer : pair.reader});
    End end{box, monitor};
    const LinkTimes own = measure(party, *parties[static_cast<size_t>(party)], end);
    if (party == reader) times = own;
  });
  times.bytes = bytes;
  return times;
}

LinkTimes flagTimes(const ThreadPair& pair, const RepetitionLimits& limits) {
  return onPair(pair, flagBytes, [&](int party, Parties& all, End& end) {
    return timesOf(all, limits, [&](int64_t calls) { return end.handOver(party, calls); });
  });
}

LinkTimes readTimes(const ThreadPair& pair, int64_t bytes, const RepetitionLimits& limits) {
  return onPair(pair, bytes, [&](int party, Parties& all, End& end) {
    const auto memory = touched(bytes);
    const std::span<std::byte> own(memory.get(), static_cast<size_t>(bytes));
    if (party == writer) end.box.memory = own;
    all.largest(0);  // from here on the reader knows the writer's memory
    const auto found =
        timesOf(all, limits, [&](int64_t calls) { return party == writer ? end.write(calls) : end.read(calls, own); });
    all.largest(0);  // until here nobody's memory goes
    return found;
  });
}

std::vector<ThreadPair> pairsOfMachine() {
  std::vector<int> threads;
  for (const Core& core : readTopology().cores) threads.insert(threads.end(), core.threads.begin(), core.threads.end());
  return pairsByPart(threads, sharedByPairs(threads));
}

}  // namespace

void measureCores(const LinkOrder& order, const LinkSink& sink) {
  const auto pairs = pairsOfMachine();
  const RepetitionLimits limits = limitsOf(order, 2 * pairs.size());
  for (const ThreadPair& pair : pairs) {
    LinkSeries flag = seriesOf(pair, "hand over a flag"), copy = seriesOf(pair, "read");
    flag.times.push_back(flagTimes(pair, limits));
    sink(flag);
    for (const int64_t bytes : order.sizes) copy.times.push_back(readTimes(pair, bytes, limits));
    sink(copy);
  }
}

}  // namespace tandem

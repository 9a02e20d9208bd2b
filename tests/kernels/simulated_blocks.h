#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/gpu/host_testable_block.h"

namespace tandem {

/// A block of a block program (kernels/gpu/host_testable_block.h) on the host: its threads run one after the other, in
/// an order drawn anew for each each(), so that a program whose threads disturb one another gives other results from
/// seed to seed.
struct SimulatedBlock {
  int64_t index;
  std::mt19937* random;

  template <class Body>
  void each(const Body& body) const {
    std::vector<int> threads(blockThreads);
    std::iota(threads.begin(), threads.end(), 0);
    std::shuffle(threads.begin(), threads.end(), *random);
    for (const int thread : threads) body(thread);
  }

  template <int width, class T>
  static Packet<T, width> load(const T* from) {
    expectAligned<T, width>(from);
    Packet<T, width> packet;
    std::memcpy(&packet, from, sizeof(packet));
    return packet;
  }
  template <int width, class T>
  static void store(T* to, const Packet<T, width>& packet) {
    expectAligned<T, width>(to);
    std::memcpy(to, &packet, sizeof(packet));
  }

  template <class T>
  static float widen(T value) {
    return toFloat(value);
  }
  template <class T>
  static T narrow(float value) {
    return fromFloat<T>(value);
  }

 private:
  template <class T, int width>
  static void expectAligned(const T* place) {
    if (reinterpret_cast<uintptr_t>(place) % sizeof(Packet<T, width>) == 0) return;
    ADD_FAILURE() << "an access of " << sizeof(Packet<T, width>) << " bytes at " << place;
  }
};

/// Gives the orders in which simulated threads run.
inline std::mt19937& simulationOrder() {
  static std::mt19937 random(1);
  return random;
}

/// A launch of `program`, blocks in a random order too. What blocks share holds NaN until it is written.
template <class Program>
void simulate(const Program& program, std::mt19937& random) {
  std::vector<int64_t> blocks(static_cast<size_t>(program.blocks()));
  std::iota(blocks.begin(), blocks.end(), 0);
  std::shuffle(blocks.begin(), blocks.end(), random);
  withAccess<Bf16, Half>(program, [&]<class T, int width>() {
    for (const int64_t block : blocks) {
      typename Program::template Shared<width> shared;
      std::memset(static_cast<void*>(&shared), 0xff, sizeof(shared));
      program.template run<T, width>(SimulatedBlock{block, &random}, shared);
    }
  });
}

}  // namespace tandem

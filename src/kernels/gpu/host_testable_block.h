#pragma once

#include <cstdint>

#include "kernels/simd/element.h"

/// A block program is the code of one thread block of a GPU, written so that tests can run it on the host too. There
/// the threads run one after another, in the order of a launch. It is a struct of arguments with
///
///   int64_t blocks() const                                   the number of blocks of a launch
///   Access access() const                                    how it reads tensors; absent: fp32, value by value
///   static constexpr int widest                              the most values of an access; absent: those of 16 bytes
///   struct Shared<width>                                     the memory that the threads of a block share
///   void run<T, width>(const Block&, Shared<width>&) const   the work of one block
///
/// It reaches threads and memory only through Block:
///
///   block.index                the number of the block
///   block.each(body)           body(thread) by each of blockThreads threads; returns when all are done. Within one
///                              each(), no thread reads what another writes
///   Block::load<width>(from)   a Packet of neighbours in one access; REQUIRES: aligned to its size
///   Block::store(to, packet)
///   Block::widen(value), Block::narrow<T>(number)   a T as fp32; fp32 rounded to the nearest T
///
/// gpu/block.cuh has the Block of a GPU, tests/kernels/simulated_blocks.h that of the host.
///
/// Before a loop, TANDEM_UNROLL unrolls all of it and TANDEM_UNROLL_BY(n) n rounds, on a GPU only. An array stays in
/// registers only if all loops over it are unrolled.
#ifdef __CUDACC__
#define TANDEM_THREAD __device__ __forceinline__
#define TANDEM_UNROLL _Pragma("unroll")
#define TANDEM_UNROLL_BY(times) TANDEM_PRAGMA(unroll times)
#define TANDEM_PRAGMA(text) _Pragma(#text)
#else
#define TANDEM_THREAD inline
#define TANDEM_UNROLL
#define TANDEM_UNROLL_BY(times)
#endif

namespace tandem {

inline constexpr int blockThreads = 256;

/// The type of the tensors, and how many neighbouring values a thread reads or writes in one access.
struct Access {
  Element type;
  int width;  ///< widestAccess() of the program, or 1
};

/// The most values, of `bytes` bytes each, that a thread of the program reads in one access: never more than 16 bytes.
template <class Program>
constexpr int widestAccess(int bytes) {
  const int most = 16 / bytes;
  if constexpr (requires { Program::widest; }) return Program::widest < most ? Program::widest : most;
  return most;
}

template <class T, int width>
struct alignas(width * sizeof(T)) Packet {
  T values[width];
};

/// Calls use.operator()<T, width>() with the arguments for the program's run(). `Brain` and `Ieee`: the bfloat16 and
/// the half of Block.
template <class Brain, class Ieee, class Program, class Use>
auto withAccess(const Program& program, const Use& use) {
  if constexpr (requires { program.access(); }) {
    const Access access = program.access();
    return withElement<float, Brain, Ieee>(access.type, [&]<class T>(T) {
      constexpr int widest = widestAccess<Program>(sizeof(T));
      return access.width == 1 ? use.template operator()<T, 1>() : use.template operator()<T, widest>();
    });
  } else {
    return use.template operator()<float, 1>();
  }
}

/// Combines values in shared memory over the layers of a block, lane by lane, in a fixed order. merge(into, from) names
/// two threads of one lane. Afterwards the first `lanes` threads hold the result.
template <class Block, class Merge>
TANDEM_THREAD void foldLayers(const Block& block, int lanes, int layers, const Merge& merge) {
  for (int left = layers; left > 1;) {
    const int kept = (left + 1) / 2;
    block.each([&](int thread) {
      if (thread / lanes + kept < left) merge(thread, thread + kept * lanes);
    });
    left = kept;
  }
}

}  // namespace tandem

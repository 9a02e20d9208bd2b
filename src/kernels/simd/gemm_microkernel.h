#pragma once

#include "kernels/simd/vector.h"

/// The innermost loop of a matrix product: a block of the result that stays in registers. Only for sources that are
/// built per instruction set (isa_dispatch.h).
namespace tandem {

/// How one step of a sum multiplies a word of `a` with a vector of words of `b`. In fp32 a word is one value.
struct Fp32Step {
  using Word = float;
  using Vector = Floats;
  static TANDEM_INLINE Vector words(const float* from) { return load<Floats>(from); }
  static TANDEM_INLINE Vector spread(float word) { return word - Floats{}; }  // adding would turn -0 to 0
  static TANDEM_INLINE Floats add(Floats sum, Vector a, Vector b) { return sum + a * b; }
};

/// The steps of a sum. A step reads one word a(row, step) per row of the block, and as many vectors of `b` as the block
/// has columns.
template <class Step>
struct Steps {
  const typename Step::Word* b;
  int64_t count;
  const void* ahead;  ///< data for later: each step prefetches one line of it
  int64_t aheadStep;  ///< bytes between two prefetches; 0: always the same line
};

/// Adds the products of all steps to `sum`.
template <class Step, int rows, int vectors, class A>
// The compiler unrolls both inner loops completely, so `sum` and `b` live in registers. The prefetch is into the second
// level: the data is needed after this block.
TANDEM_INLINE void addProducts(const A& a, const Steps<Step>& steps, Floats (&sum)[rows][vectors]) {
  for (int64_t step = 0; step < steps.count; ++step) {
    __builtin_prefetch(static_cast<const char*>(steps.ahead) + step * steps.aheadStep, 0, 2);
    typename Step::Vector b[vectors];
    for (int v = 0; v < vectors; ++v) b[v] = Step::words(steps.b + (step * vectors + v) * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const typename Step::Vector factor = Step::spread(a(i, step));
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[i][v] = Step::add(sum[i][v], factor, b[v]);
    }
  }
}

/// Computes rows x vectors vectors of the result, added to it or replacing it. to[row]: the row's first vector.
/// `toVector`: distance from one vector of a row to the next.
template <class Step, int rows, int vectors, class A>
TANDEM_INLINE void multiplyBlock(const A& a, const Steps<Step>& steps, float* const (&to)[rows], int64_t toVector,
                                 bool add) {
  Floats sum[rows][vectors];
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < vectors; ++v) sum[i][v] = add ? load<Floats>(to[i] + v * toVector) : Floats{};
  }
  addProducts<Step, rows, vectors>(a, steps, sum);
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < vectors; ++v) store(to[i] + v * toVector, sum[i][v]);
  }
}

/// Words of `a` with constant strides.
template <class Word>
struct Strided {
  const Word* a;
  int64_t row, step;
  TANDEM_INLINE Word operator()(int i, int64_t at) const { return a[i * row + at * step]; }
};

constexpr int mostVectors = lanes / 4;  ///< the most vectors of a block's row

/// Rows of a block with `vectors` vectors per row. The sums fill three quarters of the registers (32 with AVX-512, 16
/// with AVX2). That is enough to hide the latency of an addition.
constexpr int rowsBeside(int vectors) {
  constexpr int sums = lanes == 16 ? 24 : 12, most = 12;
  return sums / vectors < most ? sums / vectors : most;
}

/// Calls block<rows>(first) over [first, last) in groups of `rows`; the rest in smaller, even groups, at last one by
/// one.
template <int rows, class Block>
TANDEM_INLINE void inGroups(int64_t first, int64_t last, const Block& block) {
  for (; first + rows <= last; first += rows) block.template operator()<rows>(first);
  if constexpr (rows > 1) inGroups<(rows > 2 ? (rows + 1) / 3 * 2 : 1)>(first, last, block);
}

/// Calls use<n>() with n = `vectors`, from 1 to mostVectors.
template <int most = mostVectors, class Use>
TANDEM_INLINE void withVectors(int64_t vectors, const Use& use) {
  if constexpr (most > 1) {
    if (vectors < most) return withVectors<most - 1>(vectors, use);
  }
  use.template operator()<most>();
}

}  // namespace tandem

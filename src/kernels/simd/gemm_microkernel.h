#pragma once

#include "kernels/simd/vector.h"

/// The innermost part of a product of matrices: a block of the result that stays in registers. Only in
/// sources that are built for the vectors of a processor (lanes.h).
namespace tandem {

/// How a step of a sum multiplies a word of `a` with a vector of words of `b`. In fp32 a word is one value.
struct Fp32Step {
  using Word = float;
  using Vector = Floats;
  static TANDEM_INLINE Vector words(const float* from) { return load<Floats>(from); }
  static TANDEM_INLINE Vector spread(float word) { return word - Floats{}; }  // adding would turn -0 to 0
  static TANDEM_INLINE Floats add(Floats sum, Vector a, Vector b) { return sum + a * b; }
};

/// Steps of a sum: of each row of the block a word, a(row, step), of `b` as many vectors as the block has.
template <class Step>
struct Steps {
  const typename Step::Word* b;
  int64_t count;
  const void* ahead;  ///< what will be needed later: its line is fetched with each step
  int64_t aheadStep;  ///< bytes that it moves on; 0: it stays
};

/// sum += the products of `steps`.
template <class Step, int rows, int vectors, class A>
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

/// rows x vectors vectors of the result += or = the products. to[row] is where a row's first lies, toVector from it to
/// the next.
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

/// Words of `a` at equal distances.
template <class Word>
struct Strided {
  const Word* a;
  int64_t row, step;
  TANDEM_INLINE Word operator()(int i, int64_t at) const { return a[i * row + at * step]; }
};

constexpr int mostVectors = lanes / 4;  ///< of a block

/// Rows of a block beside so many vectors: its sums fill three quarters of AVX-512's 32 registers or AVX2's 16, and are
/// enough to hide an addition's latency.
constexpr int rowsBeside(int vectors) {
  constexpr int sums = lanes == 16 ? 24 : 12, most = 12;
  return sums / vectors < most ? sums / vectors : most;
}

/// block<rows>(first) for [first, last) in groups of `rows`, for what is left over in smaller even ones and the last.
template <int rows, class Block>
TANDEM_INLINE void inGroups(int64_t first, int64_t last, const Block& block) {
  for (; first + rows <= last; first += rows) block.template operator()<rows>(first);
  if constexpr (rows > 1) inGroups<(rows > 2 ? (rows + 1) / 3 * 2 : 1)>(first, last, block);
}

/// use<vectors>() with the number that is named, 1 to mostVectors.
template <int most = mostVectors, class Use>
TANDEM_INLINE void withVectors(int64_t vectors, const Use& use) {
  if constexpr (most > 1) {
    if (vectors < most) return withVectors<most - 1>(vectors, use);
  }
  use.template operator()<most>();
}

}  // namespace tandem

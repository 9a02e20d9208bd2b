#pragma once

#include "kernels/vector.h"

/// The innermost part of a product of matrices: a block of the result that stays in registers. Only in the sources of
/// cloned functions (clones.h).
namespace tandem {

/// How a step of a sum multiplies a word of `a` with a vector of words of `b`. In fp32 a word is one value.
struct Fp32Step {
  using Word = float;
  using Vector = Floats;
  static TANDEM_INLINE Vector words(const float* from) { return load<Floats>(from); }
  static TANDEM_INLINE Vector spread(float word) { return word + Floats{}; }
  static TANDEM_INLINE Floats add(Floats sum, Vector a, Vector b) { return sum + a * b; }
};

/// Steps of a sum: of `a` the word of the block's first row, of `b` as many vectors as the block has.
template <class Step>
struct Steps {
  const typename Step::Word *a, *b;
  int64_t aRow, aStep;  ///< from a word of `a` to that of the next row, of the next step
  int64_t count;
  const void* ahead;  ///< what will be needed later: a line is fetched with each step
  int64_t aheadStep;  ///< bytes: of a line, or none
};

/// rows x vectors vectors of the result += or = the products. to[row] is where a row's first lies, toVector from it to
/// the next.
template <class Step, int rows, int vectors>
TANDEM_INLINE void multiplyBlock(const Steps<Step>& s, float* const (&to)[rows], int64_t toVector, bool add) {
  Floats sum[rows][vectors];
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < vectors; ++v) sum[i][v] = add ? load<Floats>(to[i] + v * toVector) : Floats{};
  }
  for (int64_t step = 0; step < s.count; ++step) {
    __builtin_prefetch(static_cast<const char*>(s.ahead) + step * s.aheadStep, 0, 2);
    const auto* const a = s.a + step * s.aStep;
    typename Step::Vector b[vectors];
    for (int v = 0; v < vectors; ++v) b[v] = Step::words(s.b + (step * vectors + v) * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const typename Step::Vector factor = Step::spread(a[i * s.aRow]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[i][v] = Step::add(sum[i][v], factor, b[v]);
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < vectors; ++v) store(to[i] + v * toVector, sum[i][v]);
  }
}

constexpr int mostVectors = 4;  ///< of a block

/// Rows of a block beside so many vectors: they fill AVX-512's 32 registers, or hide an addition's latency.
constexpr int rowsBeside(int vectors) { return vectors == 4 ? 6 : vectors == 3 ? 8 : 12; }

/// block<rows>(first) for [first, last) in groups of `rows`, for what is left over in smaller even ones and the last.
template <int rows, class Block>
TANDEM_INLINE void inGroups(int64_t first, int64_t last, const Block& block) {
  for (; first + rows <= last; first += rows) block.template operator()<rows>(first);
  if constexpr (rows > 1) inGroups<(rows > 2 ? (rows + 1) / 3 * 2 : 1)>(first, last, block);
}

/// use<vectors>() with the number that is named, 1 to mostVectors.
template <class Use>
TANDEM_INLINE void withVectors(int64_t vectors, const Use& use) {
  switch (vectors) {
    case 4:
      return use.template operator()<4>();
    case 3:
      return use.template operator()<3>();
    case 2:
      return use.template operator()<2>();
    default:
      return use.template operator()<1>();
  }
}

}  // namespace tandem

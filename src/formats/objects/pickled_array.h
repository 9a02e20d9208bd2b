#pragma once

#include <cstdint>
#include <string_view>

#include "formats/objects/numpy_value.h"
#include "formats/objects/pickle.h"

namespace tandem {

/// Rules for a pickle of lists and dicts of strings, bytes, whole numbers, and NumPy's arrays. The texts are those of
/// PickleRules and must outlive the rules.
PickleRules arrayRules(std::string_view content, std::string_view advice);

/// An array of uint8 among the values of a pickle. NumPy writes it as _reconstruct() with a state, or in protocol 5 as
/// _frombuffer() (numpy/_core/src/multiarray/methods.c, array_reduce_ex). Refuses arrays in Fortran's order.
Result<ByteArray> byteArrayOf(const Pickle& pickle, const PickleValue& value);

/// A whole number, Python's or NumPy's.
Result<int64_t> integerOf(const Pickle& pickle, const PickleValue& value);

}  // namespace tandem

#pragma once

#include <functional>

#include "models/onnx/importer.h"

namespace tandem::onnx {

/// Gives f of each pair of values of the two constant inputs, expanded to one shape, with the type of the first.
/// Whole numbers become whole numbers.
void foldPairs(Call& call, const std::function<double(double, double)>& f);

/// a / b, without its fraction if both are whole numbers of whole-number types. Throws UsageError for b = 0.
double quotient(double a, double b);

/// Whether two numbers, of which exporters store one as fp32, are the same.
bool near(double a, double b);

}  // namespace tandem::onnx

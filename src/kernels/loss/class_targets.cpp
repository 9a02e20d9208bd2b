#include "kernels/loss/class_targets.h"

#include <ATen/ATen.h>

#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

at::Tensor oneHot(const at::Tensor& labels, int64_t classes, at::ScalarType type) {
  const at::Tensor column = labels.unsqueeze(1);
  const at::Tensor rows = column.eq(at::arange(classes, labels.options())).to(type);
  return rows.masked_fill(column.lt(0).logical_or(column.ge(classes)), std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

void checkTerms(const at::Tensor& logits, const at::Tensor& labels, double divisor, const at::Tensor& classWeights) {
  check(labels.device() == logits.device(), "a loss of classes: one device");
  check(divisor > 0, "a loss of classes: divisor above 0");
  check(!classWeights.defined() || (classWeights.dim() == 1 && classWeights.size(0) == logits.size(1) &&
                                    classWeights.device() == logits.device()),
        "a loss of classes: class weights [K] on the device of the logits");
}

void checkClassLabels(const at::Tensor& logits, const at::Tensor& labels, double divisor,
                      const at::Tensor& classWeights) {
  check(logits.dim() == 2 && logits.size(0) > 0 && logits.size(1) > 0, "a loss of classes: logits [N, K]");
  const bool shares = labels.scalar_type() == at::kFloat && labels.sizes() == logits.sizes();
  check(shares || (labels.dim() == 1 && labels.size(0) == logits.size(0) && labels.scalar_type() == at::kLong),
        "a loss of classes: labels [N] int64 or [N, K] float");
  checkTerms(logits, labels, divisor, classWeights);
}

void checkClasses(const int64_t* labels, int64_t rows, int64_t classes) {
  for (int64_t row = 0; row < rows; ++row) {
    if (labels[row] >= 0 && labels[row] < classes) continue;
    throw DataError(concat("label ", labels[row], " in row ", row, " of the batch: the network has ", classes,
                           " classes, so labels go from 0 to ", classes - 1, "; check the data or give --classes"));
  }
}

at::Tensor smoothedTargets(const at::Tensor& labels, int64_t classes, double smoothing, at::ScalarType type) {
  const at::Tensor shares = areShares(labels) ? labels.to(type) : oneHot(labels, classes, type);
  return shares * (1.0 - smoothing) + smoothing / static_cast<double>(classes);
}

}  // namespace tandem

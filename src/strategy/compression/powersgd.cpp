#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "strategy/compression/compression.h"

namespace tandem {
namespace {

/// Makes the columns of `p` [rows, rank] orthonormal (Gram-Schmidt); a column of zeros stays. Each column is projected
/// twice: what one projection leaves of a dependent column is rounding, which need not be orthogonal.
void orthogonalize(const at::Tensor& p) {
  for (int64_t i = 0; i < p.size(1); ++i) {
    at::Tensor column = p.select(1, i);
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t j = 0; j < i; ++j) {
        const at::Tensor before = p.select(1, j);
        column.sub_(before * before.mul(column).sum());
      }
      column.div_(column.norm().clamp_min_(std::numeric_limits<float>::min()));
    }
  }
}

/// A matrix with the part of each message that is of it.
struct Factored {
  GradientMatrix matrix;
  at::Tensor left, right;         // [rows, rank], [columns, rank]: views of the messages
  at::Tensor factor, nextFactor;  // [columns, rank]: the right one of the step before, with which this one starts
};

/// A parameter that is sent as it is.
struct Whole {
  GradientMatrix matrix;
  at::Tensor sent;  // [count], a view of the first message
};

/// PowerSGD (Vogels et al. 2019, "PowerSGD: Practical low-rank gradient compression for distributed optimization",
/// algorithm 1), with warm start. For a matrix M of each replica:
///
///   P = sum of M Q;  P made orthonormal;  Q = sum of M^T P;  the sum of all M is taken to be P Q^T.
///
/// The mean of Q is the next step's first factor; where its column is zero, as a gradient of zeros makes it, the column
/// before stays: from zero it would never grow again. A matrix whose factors have no fewer values than itself, such as
/// a vector, is sent whole. Messages are fp32: the left factors and the whole ones; then the right factors.
class PowerSgd final : public Compressor {
 public:
  explicit PowerSgd(CompressorPlace place);

  void encode(int round, const at::Tensor& values) override;
  void decode(at::Tensor values, at::Tensor sum) override;
  void endStep(const at::Tensor& skipped) override {
    for (Factored& each : factored_) keepUnless(skipped, each.factor, each.nextFactor);
  }

 private:
  int64_t rankOf(const GradientMatrix& matrix) const {
    return std::min({place_.options.rank, matrix.rows, matrix.columns});
  }
  bool isSmaller(const GradientMatrix& matrix) const {
    return rankOf(matrix) * (matrix.rows + matrix.columns) < matrix.count();
  }

  CompressorPlace place_;
  std::vector<Factored> factored_;
  std::vector<Whole> whole_;
};

PowerSgd::PowerSgd(CompressorPlace place) : place_(std::move(place)) {
  int64_t lefts = 0, rights = 0;
  for (const GradientMatrix& matrix : place_.matrices) {
    const bool smaller = isSmaller(matrix);
    lefts += smaller ? matrix.rows * rankOf(matrix) : matrix.count();
    rights += smaller ? matrix.columns * rankOf(matrix) : 0;
  }
  const auto options = at::device(place_.device).dtype(at::kFloat);
  messages_ = {at::zeros({lefts}, options), at::zeros({rights}, options)};
  lefts = rights = 0;
  const auto take = [](const at::Tensor& message, int64_t& begin, int64_t count) {
    return message.narrow(0, std::exchange(begin, begin + count), count);
  };
  for (const GradientMatrix& matrix : place_.matrices) {
    if (!isSmaller(matrix)) {
      whole_.push_back({matrix, take(message(0), lefts, matrix.count())});
      continue;
    }
    const int64_t rank = rankOf(matrix);
    const at::Tensor first = firstFactor(matrix.parameter, matrix.columns, rank).to(place_.device);
    factored_.push_back({matrix, take(message(0), lefts, matrix.rows * rank).view({matrix.rows, rank}),
                         take(message(1), rights, matrix.columns * rank).view({matrix.columns, rank}), first,
                         at::empty_like(first)});
  }
}

void PowerSgd::encode(int round, const at::Tensor& values) {
  for (Factored& each : factored_) {
    const at::Tensor m = each.matrix.in(values).reshape({each.matrix.rows, each.matrix.columns});
    if (round == 0) {
      at::mm_out(each.left, m, each.factor);
    } else {
      orthogonalize(each.left);
      at::mm_out(each.right, m.t(), each.left);
    }
  }
  for (Whole& each : whole_) {
    if (round == 0) each.sent.copy_(each.matrix.flatIn(values));
  }
}

// The sum is the same on all replicas, so each keeps the difference of its own matrix to the mean.
void PowerSgd::decode(at::Tensor values, at::Tensor sum) {
  sum.zero_();
  for (Factored& each : factored_) {
    at::Tensor rows = each.matrix.in(sum);
    rows.copy_(at::mm(each.left, each.right.t()).view(rows.sizes()));
    each.matrix.in(values).sub_(rows, 1.0 / static_cast<double>(place_.replicas));
    each.nextFactor.copy_(each.right).div_(static_cast<double>(place_.replicas));
    each.nextFactor.copy_(at::where(each.nextFactor.ne(0).any(0, true), each.nextFactor, each.factor));
  }
  for (Whole& each : whole_) {
    each.matrix.flatIn(sum).copy_(each.sent);
    each.matrix.flatIn(values).zero_();
  }
}

}  // namespace

// By the parameter's number, so that no result depends on how gradients are cut into buckets.
at::Tensor firstFactor(int parameter, int64_t columns, int64_t rank) {
  const auto generator = at::detail::createCPUGenerator(static_cast<uint64_t>(parameter));
  return at::randn({columns, rank}, generator, at::TensorOptions().dtype(at::kFloat));
}

std::unique_ptr<Compressor> makePowerSgd(CompressorPlace place) { return std::make_unique<PowerSgd>(std::move(place)); }

}  // namespace tandem

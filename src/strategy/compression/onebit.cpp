#include <ATen/ATen.h>

#include <utility>

#include "strategy/compression/compression.h"

namespace tandem {
namespace {

constexpr int64_t bitsOfByte = 8, means = 2;  // of the values from zero on, and of those below

int64_t roundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// 1-bit SGD (Seide et al. 2014, "1-bit stochastic gradient descent and its application to data-parallel distributed
/// training of speech DNNs"): of each value its sign, for each row of a matrix the mean of its values from zero on and
/// the mean of those below. These keep the sum of a row.
///
/// A part of the message is one replica's: the means of all rows in fp32, then a bit for each element of the bucket.
/// The paper compresses the sum once more on the way back; here all replicas get all messages, and add them up
/// themselves.
class OneBit final : public Compressor {
 public:
  explicit OneBit(CompressorPlace place) : place_(std::move(place)) {
    for (const GradientMatrix& matrix : place_.matrices) rows_ += matrix.rows;
    meanBytes_ = means * rows_ * static_cast<int64_t>(sizeof(float));
    const int64_t bytes =
        roundUp(meanBytes_ + byteCount(), sizeof(float));  // so that the next part's means are aligned
    const auto options = at::device(place_.device);
    messages_ = {at::zeros({place_.replicas * bytes}, options.dtype(at::kByte))};
    signs_ = at::zeros({byteCount(), bitsOfByte}, options.dtype(at::kBool));
  }

  void encode(int round, const at::Tensor& values) override;
  void decode(at::Tensor values, at::Tensor sum) override;

 private:
  int64_t byteCount() const { return (place_.count + bitsOfByte - 1) / bitsOfByte; }
  at::Tensor flatSigns() const { return signs_.view({-1}).narrow(0, 0, place_.count); }
  at::Tensor part(int64_t replica) const { return partOf(message(0), place_.replicas, replica); }
  /// [rows, 2] fp32
  at::Tensor meansIn(const at::Tensor& part) const {
    return part.narrow(0, 0, meanBytes_).view(at::kFloat).view({rows_, means});
  }
  at::Tensor bitsIn(const at::Tensor& part) const { return part.narrow(0, meanBytes_, byteCount()); }
  /// Calls work(matrix, the row at which its means begin).
  template <class Work>
  void eachMatrix(const Work& work) const {
    int64_t first = 0;
    for (const GradientMatrix& matrix : place_.matrices) {
      work(matrix, first);
      first += matrix.rows;
    }
  }

  CompressorPlace place_;
  int64_t rows_ = 0, meanBytes_ = 0;
  at::Tensor signs_;  // [bytes, 8] whether a value is from zero on; those behind the bucket are false
};

/// [rows] the mean of the values where `chosen` (0 or 1), along the last dimension; 0 where there are none.
at::Tensor meanWhere(const at::Tensor& values, const at::Tensor& chosen) {
  return at::where(chosen, values, at::zeros({}, values.options()))
      .sum(-1)
      .div_(chosen.sum(-1).clamp_min_(1))
      .flatten();
}

void OneBit::encode(int /*round*/, const at::Tensor& values) {
  at::Tensor signs = flatSigns();
  at::ge_out(signs, values, 0);
  const at::Tensor own = part(place_.replica), rowMeans = meansIn(own);
  eachMatrix([&](const GradientMatrix& matrix, int64_t first) {
    const at::Tensor rows = matrix.in(values), upper = matrix.in(signs);
    at::Tensor ofRows = rowMeans.narrow(0, first, matrix.rows);
    ofRows.select(1, 0).copy_(meanWhere(rows, upper));
    ofRows.select(1, 1).copy_(meanWhere(rows, upper.logical_not()));
  });
  at::Tensor bits = bitsIn(own).zero_();
  for (int64_t bit = 0; bit < bitsOfByte; ++bit) bits.add_(signs_.select(1, bit), int64_t{1} << bit);
}

void OneBit::decode(at::Tensor values, at::Tensor sum) {
  sum.zero_();
  const at::Tensor signs = flatSigns();
  for (int64_t replica = 0; replica < place_.replicas; ++replica) {
    const at::Tensor from = part(replica), rowMeans = meansIn(from), bits = bitsIn(from);
    for (int64_t bit = 0; bit < bitsOfByte; ++bit) {
      signs_.select(1, bit).copy_(bits.bitwise_and(int64_t{1} << bit));
    }
    eachMatrix([&](const GradientMatrix& matrix, int64_t first) {
      at::Tensor rows = matrix.in(sum);
      const at::Tensor ofRows = rowMeans.narrow(0, first, matrix.rows).view({rows.size(0), rows.size(1), means, 1});
      const at::Tensor told = at::where(matrix.in(signs), ofRows.select(2, 0), ofRows.select(2, 1));
      rows.add_(told);
      if (replica == place_.replica) matrix.in(values).sub_(told);
    });
  }
}

}  // namespace

std::unique_ptr<Compressor> makeOneBit(CompressorPlace place) { return std::make_unique<OneBit>(std::move(place)); }

}  // namespace tandem

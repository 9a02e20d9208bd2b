#include <ATen/ATen.h>

#include <utility>

#include "strategy/compression/compression.h"

namespace tandem {
namespace {

constexpr int64_t bitsOfByte = 8, means = 2;  // of the values from zero on, and of those below

int64_t roundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// 1-bit SGD (Seide et al. 2014, "1-bit stochastic gradient descent and its application to data-parallel distributed
/// training of speech DNNs"): of each value its sign, for each row of a matrix the mean of its values from zero on and
/// the mean of those below. These keep the sum of a row. Vectors, which are few values, are sent whole: the scales of a
/// batch-norm have nothing in common that a mean could tell.
///
/// A part of the message is one replica's: of each parameter the means or the values in fp32, then a bit for each
/// element of the bucket. The paper compresses the sum once more on the way back; here all replicas get all messages,
/// and add them up themselves.
class OneBit final : public Compressor {
 public:
  explicit OneBit(CompressorPlace place) : place_(std::move(place)) {
    for (const GradientMatrix& matrix : place_.matrices) floats_ += floatsOf(matrix);
    const int64_t bytes = roundUp(floatBytes() + byteCount(), sizeof(float));  // so that the next part is aligned
    const auto options = at::device(place_.device);
    messages_ = {at::zeros({place_.replicas * bytes}, options.dtype(at::kByte))};
    signs_ = at::zeros({byteCount(), bitsOfByte}, options.dtype(at::kBool));
  }

  void encode(int round, const at::Tensor& values) override;
  void decode(at::Tensor values, at::Tensor sum) override;

 private:
  static int64_t floatsOf(const GradientMatrix& matrix) {
    return matrix.isVector ? matrix.count() : means * matrix.rows;
  }
  int64_t floatBytes() const { return floats_ * static_cast<int64_t>(sizeof(float)); }
  int64_t byteCount() const { return (place_.count + bitsOfByte - 1) / bitsOfByte; }
  at::Tensor flatSigns() const { return signs_.view({-1}).narrow(0, 0, place_.count); }
  at::Tensor part(int64_t replica) const { return partOf(message(0), place_.replicas, replica); }
  at::Tensor bitsIn(const at::Tensor& part) const { return part.narrow(0, floatBytes(), byteCount()); }
  /// Calls work(matrix, its fp32 values in the part).
  template <class Work>
  void eachMatrix(const at::Tensor& part, const Work& work) const {
    const at::Tensor floats = part.narrow(0, 0, floatBytes()).view(at::kFloat);
    int64_t first = 0;
    for (const GradientMatrix& matrix : place_.matrices) {
      work(matrix, floats.narrow(0, first, floatsOf(matrix)));
      first += floatsOf(matrix);
    }
  }

  CompressorPlace place_;
  int64_t floats_ = 0;  // in a part
  at::Tensor signs_;    // [bytes, 8] whether a value is from zero on; those behind the bucket are false
};

/// [rows] the mean of the values where `chosen` (0 or 1), along the last dimension; 0 where there are none.
at::Tensor meanWhere(const at::Tensor& values, const at::Tensor& chosen) {
  return at::where(chosen, values, at::zeros({}, values.options()))
      .sum(-1)
      .div_(chosen.sum(-1).clamp_min_(1))
      .flatten();
}

/// The values that a part tells of a matrix, in the shape of `upper`, its signs.
at::Tensor valuesOf(const GradientMatrix& matrix, const at::Tensor& told, const at::Tensor& upper) {
  if (matrix.isVector) return told.view(upper.sizes());
  const at::Tensor ofRows = told.view({upper.size(0), upper.size(1), means, 1});
  return at::where(upper, ofRows.select(2, 0), ofRows.select(2, 1));
}

void OneBit::encode(int /*round*/, const at::Tensor& values) {
  at::Tensor signs = flatSigns();
  at::ge_out(signs, values, 0);
  const at::Tensor own = part(place_.replica);
  eachMatrix(own, [&](const GradientMatrix& matrix, const at::Tensor& told) {
    if (matrix.isVector) {
      told.copy_(matrix.flatIn(values));
      return;
    }
    const at::Tensor rows = matrix.in(values), upper = matrix.in(signs);
    const at::Tensor ofRows = told.view({matrix.rows, means});
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
    const at::Tensor from = part(replica), bits = bitsIn(from);
    for (int64_t bit = 0; bit < bitsOfByte; ++bit) {
      signs_.select(1, bit).copy_(bits.bitwise_and(int64_t{1} << bit));
    }
    eachMatrix(from, [&](const GradientMatrix& matrix, const at::Tensor& told) {
      const at::Tensor decoded = valuesOf(matrix, told, matrix.in(signs));
      matrix.in(sum).add_(decoded);
      if (replica == place_.replica) matrix.in(values).sub_(decoded);
    });
  }
}

}  // namespace

std::unique_ptr<Compressor> makeOneBit(CompressorPlace place) { return std::make_unique<OneBit>(std::move(place)); }

}  // namespace tandem

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "strategy/compression/compression.h"

namespace tandem {
namespace {

/// Top-k sparsification with error feedback (Aji and Heafield 2017, "Sparse communication for distributed gradient
/// descent"; Stich et al. 2018, "Sparsified SGD with memory"): of each parameter the k values of the largest magnitude.
/// All replicas get all pairs of a place and a value, and add them up themselves. (A share of each parameter and not of
/// the bucket, so that the result does not depend on how gradients are cut into buckets.)
///
/// A part of the message is one replica's: the places in the bucket as int32, then the values in fp32.
class TopK final : public Compressor {
 public:
  explicit TopK(CompressorPlace place) : place_(std::move(place)) {
    check(place_.count <= std::numeric_limits<int32_t>::max(), "a place in a bucket is an int32");
    for (const GradientMatrix& matrix : place_.matrices) kept_ += keptOf(matrix);
    messages_ = {at::zeros({place_.replicas * 2 * bytes()}, at::device(place_.device).dtype(at::kByte))};
  }

  void encode(int /*round*/, const at::Tensor& values) override {
    int64_t first = 0;
    const at::Tensor own = part(place_.replica), places = placesIn(own);
    for (const GradientMatrix& matrix : place_.matrices) {
      const int64_t kept = keptOf(matrix);
      const auto largest = at::topk(matrix.flatIn(values).abs(), kept, 0, /*largest=*/true, /*sorted=*/false);
      places.narrow(0, first, kept).copy_(std::get<1>(largest) + matrix.begin);
      first += kept;
    }
    valuesIn(own).copy_(values.index_select(0, places));
  }

  void decode(at::Tensor values, at::Tensor sum) override {
    sum.zero_();
    for (int64_t replica = 0; replica < place_.replicas; ++replica) {
      sum.index_add_(0, placesIn(part(replica)), valuesIn(part(replica)));
    }
    values.index_fill_(0, placesIn(part(place_.replica)).to(at::kLong), 0);
  }

 private:
  int64_t keptOf(const GradientMatrix& matrix) const { return keptValues(matrix.count(), place_.options.ratio); }
  int64_t bytes() const { return kept_ * static_cast<int64_t>(sizeof(float)); }  // of all places, and of all values
  at::Tensor part(int64_t replica) const { return partOf(message(0), place_.replicas, replica); }
  at::Tensor placesIn(const at::Tensor& part) const { return part.narrow(0, 0, bytes()).view(at::kInt); }
  at::Tensor valuesIn(const at::Tensor& part) const { return part.narrow(0, bytes(), bytes()).view(at::kFloat); }

  CompressorPlace place_;
  int64_t kept_ = 0;
};

}  // namespace

int64_t keptValues(int64_t count, double ratio) {
  const auto share = static_cast<int64_t>(std::llround(ratio * static_cast<double>(count)));
  return std::clamp<int64_t>(share, 1, count);
}

std::unique_ptr<Compressor> makeTopK(CompressorPlace place) { return std::make_unique<TopK>(std::move(place)); }

}  // namespace tandem

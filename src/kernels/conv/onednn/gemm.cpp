#include <ATen/Parallel.h>

#include <map>

#include "kernels/conv/algorithms.h"
#include "kernels/conv/im2col.h"
#include "kernels/conv/onednn.h"
#include "kernels/conv/weight_gradient_override.h"
#include "kernels/simd/cache_size.h"

namespace tandem {
namespace {

using namespace onednn;

constexpr int64_t manyRows = 2048;  // if the result exceeds the cache, because each part reads and writes all of it

/// result [outputs, values] = or += dy [rows, outputs]^T * patches [rows, values].
class Product {
 public:
  Product(const Desc& dy, const Desc& patches, const Desc& result, bool adds)
      : dy_(dy), patches_(patches), result_(result), pass_(describe(dy, patches, result, adds)) {}

  void run(const dnnl::stream& stream, void* dy, void* patches, const at::Tensor& result) const {
    pass_.run(stream, {{DNNL_ARG_SRC, {dy_, engine(), dy}},
                       {DNNL_ARG_WEIGHTS, {patches_, engine(), patches}},
                       {DNNL_ARG_DST, memoryOf(result_, result)}});
  }

 private:
  static dnnl::matmul::primitive_desc describe(const Desc& dy, const Desc& patches, const Desc& result, bool adds) {
    dnnl::primitive_attr attributes = userScratch();
    dnnl::post_ops sum;
    if (adds) sum.append_sum();
    attributes.set_post_ops(sum);
    return {engine(), dy, patches, result, attributes};
  }

  Desc dy_, patches_, result_;
  Pass<dnnl::matmul> pass_;
};

class GemmConvolution final : public WeightGradientBy {
 public:
  using WeightGradientBy::WeightGradientBy;

  void backwardParameters(const at::Tensor& x, const at::Tensor& dy) override;

 private:
  int64_t outputs() const { return p_.weight.size(0); }

  /// Drops the products of another shape.
  void prepare(const at::Tensor& x, const at::Tensor& dy);
  const Product& product(int64_t rows);
  /// Adds all parts to `sum`, or writes the only part.
  void sumParts(const at::Tensor& x, const at::Tensor& dy, const at::Tensor& sum);

  dnnl::stream stream_{engine()};
  std::vector<int64_t> preparedFor_;
  Patches patches_{};
  int64_t places_ = 0, rows_ = 0;        // places of all images; rows of a part
  std::map<int64_t, Product> products_;  // by number of rows: those of a part, and of the last one
};

void GemmConvolution::prepare(const at::Tensor& x, const at::Tensor& dy) {
  if (x.sizes() == preparedFor_) return;
  preparedFor_ = x.sizes().vec();
  products_.clear();
  const at::Tensor& w = p_.weight;
  patches_ = {x.size(1),  x.size(2), x.size(3), w.size(2),  w.size(3),  g_.strideH,
              g_.strideW, g_.top,    g_.left,   dy.size(2), dy.size(3), x.element_size()};
  places_ = dy.size(0) * dy.size(2) * dy.size(3);
  // The gathered rows and their dy stay in the threads' caches until the product has read them.
  const int64_t cache = coreCacheBytes() * at::get_num_threads(), values = patches_.values();
  rows_ = cache / ((values + outputs()) * x.element_size());
  if (values * outputs() * static_cast<int64_t>(sizeof(float)) > cache) rows_ = std::max(rows_, manyRows);
  // Equal parts, so that the last one is not much smaller and one product serves nearly all.
  const int64_t parts = (places_ + rows_ - 1) / std::max<int64_t>(rows_, 1);
  rows_ = (places_ + parts - 1) / parts;
}

const Product& GemmConvolution::product(int64_t rows) {
  const auto known = products_.find(rows);
  if (known != products_.end()) return known->second;
  const auto type = typeOf(p_.weight);
  const bool isOnlyPart = rows == places_;
  const Desc dy({outputs(), rows}, type, Tag::ba), patches({rows, patches_.values()}, type, Tag::ab),
      sum({outputs(), patches_.values()}, isOnlyPart ? type : dnnl::memory::data_type::f32, Tag::ab);
  return products_.try_emplace(rows, dy, patches, sum, !isOnlyPart).first->second;
}

void GemmConvolution::sumParts(const at::Tensor& x, const at::Tensor& dy, const at::Tensor& sum) {
  const int64_t row = patches_.values() * patches_.elementSize;
  auto* const images = static_cast<std::byte*>(x.data_ptr());
  auto* const gradients = static_cast<std::byte*>(dy.data_ptr());
  at::Tensor gathered = patches_.areImages() ? at::Tensor() : at::empty({rows_ * row}, at::kByte);
  for (int64_t first = 0; first < places_; first += rows_) {
    const int64_t rows = std::min(rows_, places_ - first);
    std::byte* patches = images + first * row;
    if (gathered.defined()) {
      patches = static_cast<std::byte*>(gathered.data_ptr());
      at::parallel_for(0, rows, 64, [&](int64_t begin, int64_t end) {
        patches_.gather(images, first + begin, first + end, patches + begin * row);
      });
    }
    product(rows).run(stream_, gradients + first * outputs() * patches_.elementSize, patches, sum);
  }
}

void GemmConvolution::backwardParameters(const at::Tensor& x, const at::Tensor& dy) {
  prepare(x, dy);
  // The order in memory: [outputs, kH, kW, channels].
  const at::Tensor gradient = p_.weightGradient.permute({0, 2, 3, 1}).view({outputs(), patches_.values()});
  // bfloat16 parts are summed in fp32 and rounded once at the end; one part alone needs no such sum.
  const bool inPlace = rows_ == places_ || gradient.scalar_type() == at::kFloat;
  if (inPlace && rows_ < places_) gradient.zero_();
  const at::Tensor sum = inPlace ? gradient : at::zeros(gradient.sizes(), at::kFloat);
  sumParts(x, dy, sum);
  if (!inPlace) gradient.copy_(sum);
  if (p_.biasGradient.defined()) at::sum_out(p_.biasGradient, dy, {0, 2, 3}, false, p_.biasGradient.scalar_type());
}

}  // namespace

std::unique_ptr<Convolution> makeGemmConvolution(const ConvolutionGeometry& geometry,
                                                 const ConvolutionParameters& parameters) {
  if (geometry.groups != 1 || geometry.blockedOutput) return nullptr;
  if (parameters.weight.scalar_type() == at::kBFloat16 && !takesBf16()) return nullptr;
  auto direct = makeDirectConvolution(geometry, parameters);
  if (!direct) return nullptr;
  return std::make_unique<GemmConvolution>(geometry, parameters, std::move(direct));
}

}  // namespace tandem

// Bytes to normalised input in NHWC: the kernel, and copy_, sub_, div_ of ATen. Minimum traffic of an element: one byte
// read, the result written.
#include "kernels/tensor/normalize.h"

#include <ATen/ATen.h>

#include "rows.h"

namespace tandem::bench {
namespace {

enum class By { kernel, aten };

Call kernelCall(const at::Tensor& bytes, const at::Tensor& out) {
  return [=, target = out]() mutable { normalize(bytes, {}, target); };
}

Call atenCall(const at::Tensor& bytes, const at::Tensor& out) {
  const auto perChannel = [&](const std::array<float, 3>& values) {
    return at::tensor(at::ArrayRef<float>(values)).to(out.scalar_type()).view({1, 3, 1, 1});
  };
  const at::Tensor mean = perChannel(Normalization().mean), deviation = perChannel(Normalization().deviation);
  return [=] { out.copy_(bytes.permute({0, 3, 1, 2})).sub_(mean).div_(deviation); };
}

void addRow(const Activation& shape, at::ScalarType type, By by, const Peaks& peaks) {
  const auto prepare = [=] {
    const at::Tensor bytes =
        at::randint(256, {shape.images, shape.height, shape.width, shape.channels}, at::TensorOptions(at::kByte));
    const at::Tensor out = randomImages(shape, type);
    return by == By::kernel ? kernelCall(bytes, out) : atenCall(bytes, out);
  };
  const char* const name = by == By::kernel ? "kernel" : "aten";
  addByteRow(concat("normalize/", shape.name(), "/", nameOf(type), "/", name), peaks,
             static_cast<double>(shape.count() * (1 + bytesOf(type))), prepare);
}

}  // namespace

void addNormalizeRows(const Peaks& peaks) {
  for (const Activation& shape : inputImages) {
    for (const at::ScalarType type : elementTypes) {
      for (const By by : {By::kernel, By::aten}) addRow(shape, type, by, peaks);
    }
  }
}

}  // namespace tandem::bench

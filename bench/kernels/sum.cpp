// The sum of several replicas' gradients: the kernel, and ATen's add one source after another (which in bf16 rounds
// after each). Minimum traffic: each source read, the sum written.
#include "kernels/tensor/sum.h"

#include <ATen/ATen.h>

#include <vector>

#include "rows.h"

namespace tandem::bench {
namespace {

void byKernel(at::Tensor& out, const std::vector<at::Tensor>& sources) { sumInto(out, sources); }

void byAten(at::Tensor& out, const std::vector<at::Tensor>& sources) {
  at::add_out(out, sources[0], sources[1]);
  for (size_t i = 2; i < sources.size(); ++i) out.add_(sources[i]);
}

using Operation = void (*)(at::Tensor&, const std::vector<at::Tensor>&);

void addRow(const Parameters& parameters, int64_t replicas, at::ScalarType type, const char* by, Operation operation,
            const Peaks& peaks) {
  const auto prepare = [=, count = parameters.count]() -> Call {
    std::vector<at::Tensor> sources;
    for (int64_t i = 0; i < replicas; ++i) sources.push_back(randomVector(count, type));
    return [=, out = at::empty_like(sources[0])]() mutable { operation(out, sources); };
  };
  addByteRow(concat("sum_of_", replicas, "/", parameters.name, "_", parameters.count, "/", nameOf(type), "/", by),
             peaks, static_cast<double>((replicas + 1) * parameters.count * bytesOf(type)), prepare);
}

}  // namespace

void addSumRows(const Peaks& peaks) {
  for (const int64_t replicas : {2, 8}) {
    for (const Parameters& parameters : parameterCounts) {
      for (const at::ScalarType type : elementTypes) {
        addRow(parameters, replicas, type, "kernel", byKernel, peaks);
        addRow(parameters, replicas, type, "aten", byAten, peaks);
      }
    }
  }
}

}  // namespace tandem::bench

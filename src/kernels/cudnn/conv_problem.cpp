#include "kernels/cudnn/conv_problem.h"

#include <ATen/Context.h>

#include <array>
#include <string_view>

#include "base/text.h"
#include "kernels/gpu/dispatch.h"

namespace tandem {
namespace {

constexpr std::array<std::string_view, 3> passNames{"forward", "input gradient", "weight gradient"};
constexpr std::array<std::string_view, 3> typeNames{"fp32", "bf16", "fp16"};

}  // namespace

int64_t ConvolutionProblem::outputHeight() const {
  return (height + geometry.top + geometry.bottom - kernelH) / geometry.strideH + 1;
}

int64_t ConvolutionProblem::outputWidth() const {
  return (width + geometry.left + geometry.right - kernelW) / geometry.strideW + 1;
}

std::vector<NumericalNote> ConvolutionProblem::barredNotes() const {
  std::vector<NumericalNote> barred{NumericalNote::roundedFactors};
  if (type != Element::fp32) return barred;
  barred.push_back(NumericalNote::shorterSums);
  if (!tf32) barred.push_back(NumericalNote::tensorCores);
  return barred;
}

std::string ConvolutionProblem::text() const {
  const ConvolutionGeometry& g = geometry;
  return concat("convolution, ", passNames.at(static_cast<size_t>(pass)), sums ? " with sums" : "", ", ", images, " x ",
                channels, 'x', height, 'x', width, "->", outputs, " kernel ", kernelH, 'x', kernelW, " stride ",
                g.strideH, 'x', g.strideW, " padding ", g.top, ',', g.bottom, ',', g.left, ',', g.right, " groups ",
                g.groups, " nhwc ", tf32 ? "tf32" : typeNames.at(static_cast<size_t>(type)));
}

ConvolutionProblem problemOf(ConvolutionPass pass, const ConvolutionGeometry& geometry, at::ScalarType type,
                             at::IntArrayRef x, at::IntArrayRef weight) {
  return {.pass = pass,
          .type = elementOf(type, "convolution"),
          .tf32 = type == at::kFloat && at::globalContext().allowTF32CuDNN(at::Float32Op::CONV),
          .images = x[0],
          .channels = x[1],
          .height = x[2],
          .width = x[3],
          .outputs = weight[0],
          .kernelH = weight[2],
          .kernelW = weight[3],
          .geometry = geometry};
}

}  // namespace tandem

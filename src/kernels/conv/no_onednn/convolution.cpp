// Twin of onednn/convolution.cpp and onednn/gemm.cpp for builds without oneDNN.
#include "kernels/conv/algorithms.h"

namespace tandem {

std::unique_ptr<Convolution> makeDirectConvolution(const ConvolutionGeometry&, const ConvolutionParameters&) {
  return nullptr;
}

std::unique_ptr<Convolution> makeGemmConvolution(const ConvolutionGeometry&, const ConvolutionParameters&) {
  return nullptr;
}

bool convolutionsWidenBf16() { return false; }

std::string convolutionLibrary() { return {}; }

}  // namespace tandem

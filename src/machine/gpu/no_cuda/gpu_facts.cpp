#include "machine/gpu/gpu_facts.h"

namespace tandem {

const CudaFacts& cudaFacts() {
  static const CudaFacts none;
  return none;
}

}  // namespace tandem

#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/error.h"
#include "base/text.h"
#include "kernels/gpu/host_testable_block.h"

namespace tandem::gpu {

/// Grid-stride loops: for (i = firstElement(); i < n; i += allThreads()).
__device__ inline int64_t firstElement() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline int64_t allThreads() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

__device__ inline float widen(float value) { return value; }
__device__ inline float widen(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ inline float widen(__half value) { return __half2float(value); }

template <class T>
__device__ inline T narrow(float value);
template <>
__device__ inline float narrow<float>(float value) {
  return value;
}
template <>
__device__ inline __nv_bfloat16 narrow<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}
template <>
__device__ inline __half narrow<__half>(float value) {
  return __float2half_rn(value);
}

/// Calls use(T{}) with the GPU's type for `type`.
template <class Use>
auto withType(Element type, const Use& use) {
  return withElement<float, __nv_bfloat16, __half>(type, use);
}

/// Element i of an array: std::array's operator[] is host code.
__device__ inline float pick(const std::array<float, 3>& values, int64_t i) {
  return reinterpret_cast<const float*>(&values)[i];
}

inline void checkLaunch() {
  const cudaError_t failure = cudaGetLastError();
  if (failure != cudaSuccess) throw InternalError(concat("CUDA kernel launch: ", cudaGetErrorString(failure)));
}

/// Enqueues a kernel with `blocks` > 0 blocks.
template <class... Parameters, class... Arguments>
void launchBlocks(void (*kernel)(Parameters...), int64_t blocks, void* stream, const Arguments&... arguments) {
  kernel<<<static_cast<unsigned>(blocks), blockThreads, 0, static_cast<cudaStream_t>(stream)>>>(arguments...);
  checkLaunch();
}

/// Enqueues a grid-stride kernel over `count` > 0 elements.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), int64_t count, void* stream, const Arguments&... arguments) {
  constexpr int64_t mostBlocks = 1 << 16;
  launchBlocks(kernel, std::min((count + blockThreads - 1) / blockThreads, mostBlocks), stream, arguments...);
}

}  // namespace tandem::gpu

#pragma once

#include "kernels/gpu/launch.cuh"

namespace tandem::gpu {

/// One block of a GPU, with the interface that host_testable_block.h describes.
struct Block {
  int64_t index;

  template <class Body>
  __device__ __forceinline__ void each(const Body& body) const {
    body(static_cast<int>(threadIdx.x));
    __syncthreads();
  }

  template <int width, class T>
  __device__ __forceinline__ static Packet<T, width> load(const T* from) {
    return *reinterpret_cast<const Packet<T, width>*>(from);
  }
  template <int width, class T>
  __device__ __forceinline__ static void store(T* to, const Packet<T, width>& packet) {
    *reinterpret_cast<Packet<T, width>*>(to) = packet;
  }

  template <class T>
  __device__ __forceinline__ static float widen(T value) {
    return gpu::widen(value);
  }
  template <class T>
  __device__ __forceinline__ static T narrow(float value) {
    return gpu::narrow<T>(value);
  }
};

/// Blocks of a wide program that a multiprocessor holds at once. Fewer do not have enough bytes under way for all of
/// its memory bandwidth. Four leave 64 registers for a thread, which `scripts/check-registers` looks after.
inline constexpr int residentBlocks = 4;

template <class T, int width, class Program>
__global__ __launch_bounds__(blockThreads, width > 1 ? residentBlocks : 1) void programKernel(Program program) {
  __shared__ typename Program::template Shared<width> shared;
  program.template run<T, width>(Block{blockIdx.x}, shared);
}

/// Enqueues a launch of a block program.
template <class Program>
void launchProgram(const Program& program, void* stream) {
  const auto kernel = withAccess<__nv_bfloat16, __half>(
      program, [&]<class T, int width>() { return programKernel<T, width, Program>; });
  launchBlocks(kernel, program.blocks(), stream, program);
}

}  // namespace tandem::gpu

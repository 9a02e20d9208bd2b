#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <algorithm>
#include <atomic>

namespace tandem {

/// Counts the bytes of tensors on the CPU that live. To be installed before the first of them: libraries free by the
/// allocator that is there then.
class CountingAllocator final : public c10::Allocator {
 public:
  static CountingAllocator& installed() {
    static CountingAllocator allocator;
    constexpr uint8_t aboveAllOthers = 255;
    c10::SetCPUAllocator(&allocator, aboveAllOthers);
    return allocator;
  }

  int64_t live() const { return live_; }
  int64_t peak() const { return peak_; }
  void forgetPeak() { peak_ = live_.load(); }

  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, c10::Device(c10::kCPU)};
    auto* const memory = static_cast<char*>(c10::alloc_cpu(bytes + header));
    *reinterpret_cast<size_t*>(memory) = bytes;
    live_ += static_cast<int64_t>(bytes);
    peak_ = std::max(peak_.load(), live_.load());
    return {memory + header, memory + header, &release, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* target, const void* source, size_t bytes) const override {
    default_copy_data(target, source, bytes);
  }

 private:
  static constexpr size_t header = 64;  // keeps the alignment

  static void release(void* data) {
    if (data == nullptr) return;
    char* const memory = static_cast<char*>(data) - header;
    live_ -= static_cast<int64_t>(*reinterpret_cast<size_t*>(memory));
    c10::free_cpu(memory);
  }

  // NOLINTNEXTLINE(readability-identifier-naming): members with accessors, although they are static
  static inline std::atomic<int64_t> live_{0}, peak_{0};
};

}  // namespace tandem

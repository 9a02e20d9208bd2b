#pragma once

#include <ATen/ATen.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <unordered_map>
#include <utility>

/// Our tensors as oneDNN's memory, for all kernels by oneDNN. Only in builds with it. Not thread-safe; a primitive runs
/// on the caller's OpenMP threads.
namespace tandem::onednn {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Arguments = std::unordered_map<int, dnnl::memory>;

/// Whether oneDNN has bfloat16 convolutions and products for this processor.
bool takesBf16();

inline const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

inline dnnl::memory::data_type typeOf(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kBFloat16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

inline dnnl::memory memoryOf(const Desc& desc, const at::Tensor& tensor) { return {desc, engine(), tensor.data_ptr()}; }

inline at::Tensor bytesFor(const Desc& desc) { return at::empty({static_cast<int64_t>(desc.get_size())}, at::kByte); }

/// Attributes that leave scratch memory to us, that is, to our allocator.
inline dnnl::primitive_attr userScratch() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

/// Copies a tensor from one memory order into another, if they differ.
class Reorder {
 public:
  Reorder(const Desc& from, const Desc& to) : from_(from), to_(to) {
    if (from != to) primitive_ = dnnl::reorder({engine(), from, engine(), to});
  }

  /// `tensor`, which has order `from`, in order `to`. If they differ it is copied into `memory`, unless that is
  /// `current`.
  dnnl::memory read(const dnnl::stream& stream, const at::Tensor& tensor, at::Tensor& memory, bool current) const {
    dnnl::memory given = memoryOf(from_, tensor);
    if (!primitive_) return given;
    if (!memory.defined()) memory = bytesFor(to_);
    dnnl::memory result = memoryOf(to_, memory);
    if (!current) primitive_->execute(stream, given, result);
    return result;
  }

  /// The memory that a kernel writes for `tensor`, which has order `to`: its own, or `memory` in order `from`.
  dnnl::memory target(const at::Tensor& tensor, at::Tensor& memory) const {
    if (primitive_) memory = bytesFor(from_);
    return memoryOf(from_, primitive_ ? memory : tensor);
  }

  /// Copies what was written to target() into the tensor, if that is other memory.
  void write(const dnnl::stream& stream, dnnl::memory written, const at::Tensor& tensor) const {
    if (!primitive_) return;
    dnnl::memory result = memoryOf(to_, tensor);
    primitive_->execute(stream, written, result);
  }

 private:
  Desc from_, to_;
  std::optional<dnnl::reorder> primitive_;
};

/// A primitive made with userScratch().
template <class Primitive>
class Pass {
 public:
  explicit Pass(const typename Primitive::primitive_desc& desc) : scratch_(desc.scratchpad_desc()), primitive_(desc) {}

  void run(const dnnl::stream& stream, Arguments arguments) const {
    const at::Tensor scratch = bytesFor(scratch_);
    arguments.emplace(DNNL_ARG_SCRATCHPAD, memoryOf(scratch_, scratch));
    primitive_.execute(stream, arguments);
  }

 private:
  Desc scratch_;
  Primitive primitive_;
};

}  // namespace tandem::onednn

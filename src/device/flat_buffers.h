#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/precision.h"

namespace tandem {

/// A range of elements of one segment of the flat buffers. A bucket is a slice, and so is a parameter.
struct Slice {
  int segment = 0;
  int64_t begin = 0, end = 0;  ///< elements
  int64_t count() const { return end - begin; }
  bool operator==(const Slice&) const = default;
};

/// Told during backward of slices whose gradients are complete and whose weights are not read again in this step: of
/// all at once that are so before more work is enqueued.
using GradientReady = std::function<void(std::span<const Slice>)>;

struct ParameterSpec {
  std::string name;
  std::vector<int64_t> shape;
  bool fp32 = false;  ///< stays fp32 in every precision (batch-norm)
  /// A convolution's weight may lie in blocks of channels, [out / b, in / b, kH, kW, b of in, b of out], as kernels for
  /// blocked activations read it. Its views then have the shape [out / b, b, in / b, b, kH, kW], which is `shape` with
  /// two dimensions split. 0: no blocks.
  int64_t block = 0;
};

/// One replica's parameters, gradients and optimizer state: a few contiguous buffers, cut into the same slices.
///
/// Segment 0 holds what is computed in the precision's type, segment 1 what stays fp32 (absent when the compute type
/// is fp32, everything is in segment 0 then, or when nothing stays fp32). Parameters lie in the order given, which is
/// the order their gradients become ready in backward, each on a 64-byte boundary in every buffer; a parameter's slice
/// ends with its last element, and the padding up to the next is zero and stays zero. 4-D weights lie in `format`: with
/// ChannelsLast the flat memory is [out, height, width, in]. Not thread-safe; the tensors' memory is shared on purpose:
/// a copy of the object is the same memory.
class FlatBuffers {
 public:
  /// `pinned`: weights lie in host memory that GPUs copy from without the host. REQUIRES then: a CPU device.
  FlatBuffers(std::vector<ParameterSpec> parameters, const Precision& precision, at::Device device,
              at::MemoryFormat format, bool pinned = false);

  int parameters() const { return static_cast<int>(specs_.size()); }
  const ParameterSpec& spec(int parameter) const { return specs_.at(static_cast<size_t>(parameter)); }
  Slice slice(int parameter) const { return slices_.at(static_cast<size_t>(parameter)); }
  int indexOf(std::string_view name) const;  ///< -1 when there is none

  int segments() const { return static_cast<int>(storage_.size()); }
  Slice whole(int segment) const;
  /// The parameters whose slices lie wholly in `slice`, in order. (Their indices need not be contiguous.)
  std::vector<int> parametersIn(Slice slice) const;

  at::Tensor master(Slice) const;    ///< [n] fp32, what the optimizer updates
  at::Tensor weights(Slice) const;   ///< [n] what kernels read; the same memory as master where the types are equal
  at::Tensor gradient(Slice) const;  ///< [n] as exchanged
  int64_t gradientBytes(Slice slice) const {
    return slice.count() * static_cast<int64_t>(of(slice).gradient.element_size());
  }
  /// [n] fp32, number `which` (from 0) of the values that an optimizer keeps for each weight; zero at first use.
  at::Tensor state(int which, Slice);
  /// What first use does, for `count` such values and all slices: before several threads use them.
  void allocateState(int count);

  at::Tensor masterView(int parameter) const;  ///< in the parameter's shape (see ParameterSpec), over the flat memory
  at::Tensor weightView(int parameter) const;
  at::Tensor gradientView(int parameter) const;

  /// From now on masters, weights and optimizer state are those of `other`; gradients stay this object's own.
  /// REQUIRES: the same parameters, precision, device and format; nobody uses a tensor of the old ones any more.
  void shareParameters(const FlatBuffers& other);

  /// Gradients lie from now on in what `memory` gives for a segment's number of values and their type, zeros at first;
  /// where that is undefined they stay. REQUIRES: nobody uses a tensor of the old ones any more.
  void moveGradients(const std::function<at::Tensor(int64_t count, at::ScalarType type)>& memory);

  /// TimingRounds master into weights (after master was written by other means than the optimizer).
  void refreshWeights();

  at::Device device() const { return device_; }
  int64_t bytes() const;  ///< of all buffers, optimizer state included

 private:
  struct Storage {
    at::Tensor master, weights, gradient;
    std::vector<at::Tensor> state;
    int64_t count = 0;
    std::vector<int> parameters;  ///< by position
  };
  void place(const Precision& precision);
  void allocate(Storage& storage, at::ScalarType compute, at::ScalarType wire, bool pinned);
  const Storage& of(Slice slice) const { return storage_.at(static_cast<size_t>(slice.segment)); }
  at::Tensor view(const at::Tensor& flat, int parameter) const;

  std::vector<ParameterSpec> specs_;
  std::vector<Slice> slices_;
  std::vector<Storage> storage_;
  at::Device device_;
  at::MemoryFormat format_;
};

}  // namespace tandem

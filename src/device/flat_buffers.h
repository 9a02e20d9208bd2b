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

/// A range of elements in one segment of the flat buffers. A bucket is a slice, and so is a parameter.
struct Slice {
  int segment = 0;
  int64_t begin = 0, end = 0;  ///< elements
  int64_t count() const { return end - begin; }
  bool operator==(const Slice&) const = default;
};

/// Called during backward with every slice whose gradient is final and whose weights will not be read again in this
/// step. Slices that become final together are passed in one call, before more work is enqueued.
using GradientReady = std::function<void(std::span<const Slice>)>;

struct ParameterSpec {
  std::string name;
  std::vector<int64_t> shape;
  bool fp32 = false;  ///< stays fp32 in every precision (batch-norm)
  /// Block size b of a convolution's weight, for kernels that read NCHWc activations. The memory is then [out / b, in /
  /// b, kH, kW, b of in, b of out]. The parameter's views then have the shape [out / b, b, in / b, b, kH, kW], which
  /// splits two dimensions of `shape`. 0: not blocked.
  int64_t block = 0;
  bool isWeight = true;  ///< of a convolution or a linear layer; else a bias, or of a normalization, ...
  bool isHead = false;   ///< of the layer that computes the outputs, or auxiliary ones
  bool isShift = false;  ///< of a normalization
  bool whitens = false;  ///< of a whitening convolution, whose weight is not trained
};

/// What a replica's buffers are for, and where they lie.
struct FlatMemory {
  bool pinned = false;         ///< pinned host memory, which GPUs copy from without the host. REQUIRES: a CPU device
  bool backwardWrites = true;  ///< backward writes gradients here (written()); else they come as they are exchanged
};

/// One replica's parameters, gradients and optimizer state: a few contiguous buffers, all cut into the same slices.
///
/// Segment 0 holds the parameters in the precision's compute type, segment 1 those that keep the master type, which is
/// fp32 in every precision of the catalog. Segment 1 is absent if these types are equal or no parameter keeps it.
/// Parameters lie in the given order, which is the order in which backward finishes their gradients. Each begins on a
/// 64-byte boundary in every buffer. A slice ends with the parameter's last element; the padding behind it is always
/// zero. 4-D weights lie in `format`: with ChannelsLast the flat memory is [out, height, width, in].
///
/// Not thread-safe. A copy of the object shares the memory on purpose.
class FlatBuffers {
 public:
  FlatBuffers(std::vector<ParameterSpec> parameters, const Precision& precision, at::Device device,
              at::MemoryFormat format, FlatMemory memory = {});

  int parameters() const { return static_cast<int>(specs_.size()); }
  const ParameterSpec& spec(int parameter) const { return specs_.at(static_cast<size_t>(parameter)); }
  Slice slice(int parameter) const { return slices_.at(static_cast<size_t>(parameter)); }
  int indexOf(std::string_view name) const;  ///< -1 if there is none

  int segments() const { return static_cast<int>(storage_.size()); }
  Slice whole(int segment) const;
  /// The parameters whose slices lie wholly in `slice`, in order. Their indices need not be contiguous.
  std::vector<int> parametersIn(Slice slice) const;

  at::Tensor master(Slice) const;    ///< [n] in the master type, updated by the optimizer
  at::Tensor weights(Slice) const;   ///< [n] read by kernels; the same memory as master if the types are equal
  at::Tensor gradient(Slice) const;  ///< [n] in the type of the exchange
  at::Tensor written(Slice) const;   ///< [n] as backward writes gradients; the same memory if the types are equal
  /// Rounds what backward has written into gradient(). Nothing to do if that is the same memory.
  void roundGradients(std::span<const Slice> slices);
  int64_t gradientBytes(Slice slice) const {
    return slice.count() * static_cast<int64_t>(of(slice).gradient.element_size());
  }
  /// [n] in the master type, state number `which` (from 0) that an optimizer keeps per weight. Allocated with zeros at
  /// first use.
  at::Tensor state(int which, Slice);
  /// The number of states that are allocated.
  int states() const { return static_cast<int>(storage_.front().state.size()); }
  /// A state in the parameter's shape, a view of the flat memory.
  at::Tensor stateView(int which, int parameter);
  /// Allocates `count` states for all slices. Call it before several threads use them.
  void allocateState(int count);

  at::Tensor masterView(
      int parameter) const;  ///< in the parameter's shape (see ParameterSpec), a view of the flat memory
  at::Tensor weightView(int parameter) const;
  at::Tensor gradientView(int parameter) const;  ///< of written()

  /// Replaces masters, weights and optimizer state by those of `other`; gradients remain this object's own. REQUIRES:
  /// equal parameters, precision, device and format; nobody uses a tensor of the old buffers any more.
  void shareParameters(const FlatBuffers& other);

  /// Moves gradients to the tensors that `memory` returns for a segment's count and type, and zeroes them. If it
  /// returns an undefined tensor, the segment's gradients stay. REQUIRES: nobody uses a tensor of the old ones any
  /// more.
  void moveGradients(const std::function<at::Tensor(int64_t count, at::ScalarType type)>& memory);

  /// Rounds master into weights, after something other than the optimizer wrote master.
  void refreshWeights();
  void refreshWeights(Slice slice);

  at::Device device() const { return device_; }
  int64_t bytes() const;  ///< of all buffers, with optimizer state

 private:
  struct Storage {
    at::Tensor master, weights, gradient, written;
    std::vector<at::Tensor> state;
    int64_t count = 0;
    std::vector<int> parameters;  ///< in the order of their slices
  };
  void place(const Precision& precision);
  struct Types {
    at::ScalarType weights, master, gradient;
  };
  void allocate(Storage& storage, const Types& types, FlatMemory memory);
  const Storage& of(Slice slice) const { return storage_.at(static_cast<size_t>(slice.segment)); }
  at::Tensor view(const at::Tensor& flat, int parameter) const;

  std::vector<ParameterSpec> specs_;
  std::vector<Slice> slices_;
  std::vector<Storage> storage_;
  at::Device device_;
  at::MemoryFormat format_;
};

}  // namespace tandem

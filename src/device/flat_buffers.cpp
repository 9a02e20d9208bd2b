#include "device/flat_buffers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "trace/span.h"

namespace tandem {
namespace {

constexpr int64_t alignmentBytes = 64;

int64_t elementsOf(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

int64_t roundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// Strides are explicit: is_contiguous() cannot tell the layouts of 1x1 and one-channel weights apart.
std::vector<int64_t> stridesOf(const std::vector<int64_t>& shape, at::MemoryFormat format) {
  if (shape.size() == 4 && format == at::MemoryFormat::ChannelsLast) {
    const int64_t c = shape[1], h = shape[2], w = shape[3];
    return {c * h * w, 1, w * c, c};
  }
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

at::Tensor cut(const at::Tensor& flat, Slice slice) { return flat.narrow(0, slice.begin, slice.count()); }

}  // namespace

FlatBuffers::FlatBuffers(std::vector<ParameterSpec> parameters, const Precision& precision, at::Device device,
                         at::MemoryFormat format, FlatMemory memory)
    : specs_(std::move(parameters)), device_(device), format_(format) {
  place(precision);
  const at::ScalarType master = precision.master;
  allocate(storage_[0], {precision.compute, master, precision.wire}, memory);
  if (segments() > 1) allocate(storage_[1], {master, master, master}, memory);
}

// Two segments only if the types differ and some parameters stay fp32. Offsets are rounded up for the narrowest type,
// so that a parameter lies on a 64-byte boundary in every buffer.
void FlatBuffers::place(const Precision& precision) {
  const bool split = precision.compute != precision.master &&
                     std::any_of(specs_.begin(), specs_.end(), [](const ParameterSpec& spec) { return spec.fp32; });
  storage_.resize(split ? 2 : 1);
  const auto narrowest =
      static_cast<int64_t>(std::min(c10::elementSize(precision.compute), c10::elementSize(precision.wire)));
  const auto widest = static_cast<int64_t>(c10::elementSize(precision.master));
  for (int i = 0; i < parameters(); ++i) {
    const int segment = split && spec(i).fp32 ? 1 : 0;
    Storage& storage = storage_[static_cast<size_t>(segment)];
    const int64_t count = elementsOf(spec(i).shape);
    slices_.push_back({segment, storage.count, storage.count + count});
    storage.count += roundUp(count, alignmentBytes / (segment == 1 ? widest : narrowest));
    storage.parameters.push_back(i);
  }
}

// Backward's gradients have the type of the weights that it reads.
void FlatBuffers::allocate(Storage& storage, const Types& types, FlatMemory memory) {
  const auto options = at::TensorOptions().device(device_);
  storage.weights = at::zeros({storage.count}, options.dtype(types.weights).pinned_memory(memory.pinned));
  const bool same = types.weights == types.master;
  storage.master = same ? storage.weights : at::zeros({storage.count}, options.dtype(types.master));
  storage.gradient = at::zeros({storage.count}, options.dtype(types.gradient));
  const bool apart = memory.backwardWrites && types.gradient != types.weights;
  storage.written = apart ? at::zeros({storage.count}, options.dtype(types.weights)) : storage.gradient;
}

int FlatBuffers::indexOf(std::string_view name) const {
  const auto found =
      std::find_if(specs_.begin(), specs_.end(), [&](const ParameterSpec& spec) { return spec.name == name; });
  return found == specs_.end() ? -1 : static_cast<int>(found - specs_.begin());
}

Slice FlatBuffers::whole(int segment) const { return {segment, 0, of({segment, 0, 0}).count}; }

std::vector<int> FlatBuffers::parametersIn(Slice slice) const {
  const std::vector<int>& order = of(slice).parameters;
  auto next = std::lower_bound(order.begin(), order.end(), slice.begin,
                               [this](int parameter, int64_t begin) { return this->slice(parameter).begin < begin; });
  std::vector<int> inside;
  for (; next != order.end() && this->slice(*next).end <= slice.end; ++next) inside.push_back(*next);
  return inside;
}

at::Tensor FlatBuffers::master(Slice slice) const { return cut(of(slice).master, slice); }
at::Tensor FlatBuffers::weights(Slice slice) const { return cut(of(slice).weights, slice); }
at::Tensor FlatBuffers::gradient(Slice slice) const { return cut(of(slice).gradient, slice); }
at::Tensor FlatBuffers::written(Slice slice) const { return cut(of(slice).written, slice); }

void FlatBuffers::roundGradients(std::span<const Slice> slices) {
  for (const Slice slice : slices) {
    if (of(slice).written.is_same(of(slice).gradient)) continue;
    const Span rounding(SpanKind::exchange);
    gradient(slice).copy_(written(slice));
  }
}

at::Tensor FlatBuffers::state(int which, Slice slice) {
  Storage& storage = storage_.at(static_cast<size_t>(slice.segment));
  const auto at = static_cast<size_t>(which);
  while (storage.state.size() <= at) storage.state.push_back(at::zeros_like(storage.master));
  return cut(storage.state[at], slice);
}

void FlatBuffers::allocateState(int count) {
  for (int segment = 0; count > 0 && segment < segments(); ++segment) state(count - 1, whole(segment));
}

at::Tensor FlatBuffers::stateView(int which, int parameter) {
  const Slice own = slice(parameter);
  state(which, own);
  return view(of(own).state[static_cast<size_t>(which)], parameter);
}

at::Tensor FlatBuffers::masterView(int parameter) const { return view(of(slice(parameter)).master, parameter); }
at::Tensor FlatBuffers::weightView(int parameter) const { return view(of(slice(parameter)).weights, parameter); }
at::Tensor FlatBuffers::gradientView(int parameter) const { return view(of(slice(parameter)).written, parameter); }

// Blocked weights: the flat order is [out / b, in / b, kH, kW, b of in, b of out]; the strides restore [out, in, kH,
// kW].
at::Tensor FlatBuffers::view(const at::Tensor& flat, int parameter) const {
  const auto& shape = spec(parameter).shape;
  const int64_t begin = slice(parameter).begin;
  if (const int64_t b = spec(parameter).block; b > 0) {
    const int64_t pixels = shape[2] * shape[3];
    return flat.as_strided({shape[0] / b, b, shape[1] / b, b, shape[2], shape[3]},
                           {shape[1] * pixels * b, 1, pixels * b * b, b, shape[3] * b * b, b * b}, begin);
  }
  return flat.as_strided(shape, stridesOf(shape, format_), begin);
}

// Gradients stay: each replica writes its own, even if all read the same weights.
void FlatBuffers::shareParameters(const FlatBuffers& other) {
  check(slices_ == other.slices_, "buffers that share parameters hold the same ones");
  for (size_t segment = 0; segment < storage_.size(); ++segment) {
    const at::Tensor gradient = storage_[segment].gradient, written = storage_[segment].written;
    storage_[segment] = other.storage_[segment];
    storage_[segment].gradient = gradient, storage_[segment].written = written;
  }
}

void FlatBuffers::moveGradients(const std::function<at::Tensor(int64_t, at::ScalarType)>& memory) {
  for (Storage& storage : storage_) {
    const at::Tensor given = memory(storage.count, storage.gradient.scalar_type());
    if (!given.defined()) continue;
    const bool same = storage.written.is_same(storage.gradient);
    storage.gradient = at::Tensor(given).zero_();
    if (same) storage.written = storage.gradient;
  }
}

void FlatBuffers::refreshWeights() {
  for (int segment = 0; segment < segments(); ++segment) refreshWeights(whole(segment));
}

void FlatBuffers::refreshWeights(Slice slice) {
  if (!of(slice).weights.is_same(of(slice).master)) weights(slice).copy_(master(slice));
}

int64_t FlatBuffers::bytes() const {
  int64_t total = 0;
  for (const Storage& storage : storage_) {
    total += static_cast<int64_t>(storage.master.nbytes() + storage.gradient.nbytes());
    if (!storage.weights.is_same(storage.master)) total += static_cast<int64_t>(storage.weights.nbytes());
    if (!storage.written.is_same(storage.gradient)) total += static_cast<int64_t>(storage.written.nbytes());
    for (const at::Tensor& state : storage.state) total += static_cast<int64_t>(state.nbytes());
  }
  return total;
}

}  // namespace tandem

#include "data/stream/streamed_batches.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "formats/dataset/array_message.h"

namespace tandem {
namespace {

struct TensorType {
  std::string_view name;  // of an ArrayType
  at::ScalarType type;
  bool images, labels;  // what may have it
};

constexpr TensorType tensorTypes[] = {
    {"uint8", at::kByte, true, true}, {"float32", at::kFloat, true, true}, {"float16", at::kHalf, true, false},
    {"int32", at::kInt, false, true}, {"int64", at::kLong, false, true},   {"int16", at::kShort, false, true},
    {"int8", at::kChar, false, true}, {"bool", at::kBool, false, true},    {"float64", at::kDouble, false, true},
};

const TensorType* typeOf(const MessageArray& array, bool TensorType::*use) {
  const auto row = std::ranges::find(tensorTypes, array.type->name, &TensorType::name);
  return row != std::end(tensorTypes) && row->*use ? &*row : nullptr;
}

MessageArray arrayOf(const at::Tensor& values) {
  const auto type = std::ranges::find(tensorTypes, values.scalar_type(), &TensorType::type);
  check(type != std::end(tensorTypes), "a message has values of such a type");
  return {&*std::ranges::find(arrayTypes(), type->name, &ArrayType::name),
          values.sizes().vec(),
          {static_cast<const uint8_t*>(values.const_data_ptr()), values.nbytes()}};
}

std::string shapeText(std::span<const int64_t> shape) {
  std::vector<std::string> sides;
  for (const int64_t side : shape) sides.push_back(concat(side));
  return concat('[', join(sides), ']');
}

std::string textOf(const MessageArray& array) { return concat(shapeText(array.shape), ' ', array.type->name); }

at::Tensor copied(const MessageArray& array, at::ScalarType type) {
  at::Tensor values = at::empty(array.shape, type);
  std::memcpy(values.mutable_data_ptr(), array.bytes.data(), array.bytes.size());
  return values;
}

/// Of float images that are not aligned in the message, a copy.
at::Tensor imagesOf(const MessageArray& array, const StreamedForm& form, const Frame& frame, std::string& why) {
  const TensorType* type = typeOf(array, &TensorType::images);
  const std::vector<int64_t> last{form.shape.batch, form.shape.height, form.shape.width, 3};
  const std::vector<int64_t> first{form.shape.batch, 3, form.shape.height, form.shape.width};
  const bool floating = type != nullptr && at::isFloatingType(type->type);
  if (type == nullptr || (array.shape != last && !(floating && array.shape == first))) {
    why = concat("its images are ", textOf(array), "; this run needs ", shapeText(last),
                 " uint8, or normalised ones of float32 or float16, also as ", shapeText(first));
    return {};
  }
  const auto address = reinterpret_cast<uintptr_t>(array.bytes.data());
  if (address % static_cast<uintptr_t>(array.type->bytes) != 0) return copied(array, type->type);
  return at::from_blob(
      const_cast<uint8_t*>(array.bytes.data()), array.shape, [memory = frame.memory](void*) {},
      at::TensorOptions(type->type));
}

/// The fault of labels that whole numbers of `kept` cannot hold as they were sent; empty: none.
std::string changeOf(const at::Tensor& sent, const at::Tensor& kept) {
  if (at::isFloatingType(kept.scalar_type())) return {};
  const at::Tensor changed = kept.to(sent.scalar_type()).ne(sent).flatten();
  if (!changed.any().item<bool>()) return {};
  const at::Tensor value = sent.flatten()[changed.to(at::kInt).argmax().item<int64_t>()];
  return concat("a value of its labels is ", value.item<double>(), "; this run needs whole numbers that ",
                std::ranges::find(tensorTypes, kept.scalar_type(), &TensorType::type)->name, " can hold");
}

at::Tensor labelsOf(const MessageArray& array, const StreamedForm& form, std::string& why) {
  const TensorType* type = typeOf(array, &TensorType::labels);
  std::vector<int64_t> shape = form.labels->shape(form.shape.classes);
  const bool number = shape.empty();
  shape.insert(shape.begin(), form.shape.batch);
  const bool column = number && array.shape == std::vector<int64_t>{form.shape.batch, 1};
  if (type == nullptr || (number && at::isFloatingType(type->type)) || (array.shape != shape && !column)) {
    why = concat("its labels are ", textOf(array), "; this run needs ", shapeText(shape), " of ",
                 number ? "whole numbers" : "numbers");
    return {};
  }
  const at::Tensor sent = copied(array, type->type).reshape(shape);
  at::Tensor labels = sent.to(form.labels->type);
  why = changeOf(sent, labels);
  const size_t bytes = labelBytes(*form.labels, form.shape.classes);
  const auto begin = static_cast<const uint8_t*>(labels.const_data_ptr());
  for (int64_t i = 0; i < form.shape.batch && why.empty(); ++i) {
    why = form.labels->breach({begin + static_cast<size_t>(i) * bytes, bytes}, form.shape.classes);
  }
  return labels;
}

class DealtBatches final : public HostBatches {
 public:
  DealtBatches(int64_t replica, std::shared_ptr<DealtFrames> frames) : replica_(replica), frames_(std::move(frames)) {}

  void make(int64_t k, const at::TensorOptions& memory, HostBatch& out) const override {
    HostBatch batch = frames_->take(replica_, k);
    out.labels = std::move(batch.labels);
    if (!memory.pinned_memory()) {
      out.images = std::move(batch.images);
      return;
    }
    out.images = at::empty(batch.images.sizes(), memory.dtype(batch.images.scalar_type()));  // from a cache
    out.images.copy_(batch.images);
  }

  void stop() const override { frames_->stop(replica_); }
  const Normalization& normalization() const override { return frames_->form().normalization; }
  BatchOrigin origin() const override { return frames_->form().origin; }

 private:
  const int64_t replica_;
  const std::shared_ptr<DealtFrames> frames_;
};

}  // namespace

HostBatch batchOf(const Frame& frame, const StreamedForm& form, std::string& why) {
  why = frame.fault;
  if (!why.empty()) return {};
  const auto arrays = parseArrayMessage(frame.bytes);
  if (!arrays) {
    why = concat("byte ", arrays.error().offset, ": ", arrays.error().text);
    return {};
  }
  if (arrays.value().size() != 2) {
    why = concat("it has ", arrays.value().size(), " array(s); a batch is its images and its labels");
    return {};
  }
  HostBatch batch;
  batch.images = imagesOf(arrays.value()[0], form, frame, why);
  if (why.empty()) batch.labels = labelsOf(arrays.value()[1], form, why);
  return batch;
}

std::vector<uint8_t> messageOf(const HostBatch& batch) {
  return arrayMessage(std::vector{arrayOf(batch.images), arrayOf(batch.labels)});
}

void DealtFrames::checkWait(int64_t replica, Nanos begin) const {
  if (failure_) std::rethrow_exception(failure_);
  if (stopped_.contains(replica)) throw PeerError(concat(form_.stream, ": the run has ended"));
  if (seconds(now() - std::max(begin, lastMessage_)) < form_.timeoutSeconds) return;
  const std::string hint = stream_->hint();
  throw PeerError(concat("no message of --input=", form_.stream, " for ", form_.timeoutSeconds, " s (--timeout)",
                         hint.empty() ? "" : ": ", hint));
}

// While one thread waits for a message, the others wait for what it gets.
HostBatch DealtFrames::take(int64_t replica, int64_t k) {
  const int64_t position = k * replicas_ + replica;
  const Nanos begin = now();
  MutexLock lock(mutex_);
  while (true) {
    if (const auto own = ready_.extract(position)) {
      changed_.notify_all();
      return own.mapped();
    }
    checkWait(replica, begin);
    const bool room = std::ssize(ready_) < waiting_ || received_ == position;
    if (receiving_ || !room) {
      changed_.wait(lock);
    } else {
      receive(lock);
    }
  }
}

void DealtFrames::receive(MutexLock& lock) {
  constexpr int sliceMs = 50;  // so that an end is seen soon
  receiving_ = true;
  lock.unlock();
  std::optional<Frame> frame;
  HostBatch batch;
  std::string why;
  std::exception_ptr failure;
  bool works = false;
  try {
    frame = stream_->next(sliceMs);
    works = stream_->works();
    if (frame) batch = batchOf(*frame, form_, why);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  receiving_ = false;
  if (frame || works) lastMessage_ = now();
  if (failure) {
    failure_ = failure;
  } else if (!why.empty()) {
    drop(concat(form_.stream, frame->sender.empty() ? "" : ", from ", frame->sender, ": ", why));
  } else if (frame) {
    ready_.emplace(received_++, std::move(batch));
  }
  changed_.notify_all();
}

void DealtFrames::drop(const std::string& why) {
  logWarning(concat("a message is dropped: ", why));
  if (++dropped_ <= form_.mostDropped) return;
  failure_ = std::make_exception_ptr(
      DataError(concat(dropped_, " messages were no batches, more than ", form_.mostDropped, "; the last: ", why)));
}

void DealtFrames::stop(int64_t replica) {
  const MutexLock lock(mutex_);
  stopped_.insert(replica);
  changed_.notify_all();
}

std::unique_ptr<HostBatches> dealtTo(int64_t replica, std::shared_ptr<DealtFrames> frames) {
  return std::make_unique<DealtBatches>(replica, std::move(frames));
}

}  // namespace tandem

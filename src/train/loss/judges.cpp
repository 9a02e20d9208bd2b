#include "train/loss/judges.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace tandem {
namespace {

template <class Value>
void store(const at::Tensor& values, std::vector<Value>& out, int64_t begin) {
  const at::Tensor host = values.to(at::kCPU).to(c10::CppTypeToScalarType<Value>::value).contiguous();
  std::copy_n(host.const_data_ptr<Value>(), host.numel(), out.begin() + begin);
}

void resizeForClasses(int64_t images, int64_t classes, EvaluatedImages& out) {
  const auto count = static_cast<size_t>(images);
  out.classes = classes;
  out.losses.resize(count), out.labels.resize(count), out.predicted.resize(count), out.place.resize(count);
  out.scores.resize(count);
}

void writeClasses(const at::Tensor& outputs, const at::Tensor& labels, int64_t first, EvaluatedImages& out) {
  const at::NoGradGuard noGradients;
  const at::Tensor column = labels.unsqueeze(1), own = outputs.gather(1, column);
  const at::Tensor logarithms = at::log_softmax(outputs, 1), predicted = outputs.argmax(1);
  store(logarithms.gather(1, column).neg().squeeze(1), out.losses, first);
  store(labels, out.labels, first);
  store(predicted, out.predicted, first);
  store(logarithms.gather(1, predicted.unsqueeze(1)).exp().squeeze(1), out.scores, first);
  store(outputs.gt(own).sum(1), out.place, first);
}

void resizeForFlags(int64_t images, int64_t classes, EvaluatedImages& out) {
  const auto count = static_cast<size_t>(images), values = static_cast<size_t>(images * classes);
  out.classes = classes;
  out.losses.resize(count), out.outputs.resize(values), out.flags.resize(values);
}

void writeFlags(const at::Tensor& outputs, const at::Tensor& labels, int64_t first, EvaluatedImages& out) {
  const at::NoGradGuard noGradients;
  const at::Tensor losses =
      at::binary_cross_entropy_with_logits(outputs, labels.to(at::kFloat), {}, {}, at::Reduction::None);
  store(losses.mean(1), out.losses, first);
  store(outputs, out.outputs, first * out.classes);
  store(labels, out.flags, first * out.classes);
}

constexpr Judge ofClasses{resizeForClasses, writeClasses}, ofFlags{resizeForFlags, writeFlags};

}  // namespace

const Judge& judgeOfClasses() { return ofClasses; }
const Judge& judgeOfFlags() { return ofFlags; }

}  // namespace tandem

#include "run/training/save_scores.h"

#include <span>
#include <vector>

#include "base/catalog.h"
#include "formats/weights/safetensors.h"

namespace tandem {
namespace {

template <class Value>
void add(std::vector<FileTensor>& tensors, std::string name, std::string_view type, const std::vector<Value>& values,
         std::vector<int64_t> shape) {
  if (values.empty()) return;
  const auto bytes = std::as_bytes(std::span(values));
  tensors.push_back({.name = std::move(name),
                     .type = &find(elementTypes(), type, "element type"),
                     .shape = std::move(shape),
                     .strides = {},
                     .bytes = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}});
}

}  // namespace

void saveScores(const std::string& path, const EvaluatedImages& images) {
  const int64_t count = images.images();
  std::vector<FileTensor> tensors;
  add(tensors, "losses", "F64", images.losses, {count});
  add(tensors, "labels", "I32", images.labels, {count});
  add(tensors, "predicted", "I32", images.predicted, {count});
  add(tensors, "place", "I32", images.place, {count});
  add(tensors, "scores", "F32", images.scores, {count});
  add(tensors, "outputs", "F32", images.outputs, {count, images.classes});
  add(tensors, "flags", "U8", images.flags, {count, images.classes});
  writeSafetensors(path, std::move(tensors), {});
}

}  // namespace tandem

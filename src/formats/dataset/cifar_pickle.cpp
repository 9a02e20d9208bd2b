#include "formats/dataset/cifar_pickle.h"

#include <algorithm>
#include <string>

#include "formats/objects/pickled_array.h"

namespace tandem {
namespace {

using Kind = PickleValue::Kind;

/// CIFAR-100 has 50000 images in a file: two labels and a name each, which Python 3 may write as a call.
constexpr PickleLimits limits{.opcodes = 1 << 22, .values = 1 << 20};

/// The classes, or the classes of classes, of `images` images.
Result<std::vector<uint8_t>> labelsOf(const Pickle& pickle, const CifarLayout& layout, bool isGroup, int64_t images) {
  const PickleValue& root = pickle.values[pickle.root];
  const std::string_view key = isGroup ? layout.groupKey : layout.labelKey;
  const PickleValue* const list = pickle.valueOf(root, key);
  if (list == nullptr) return parseError(root.offset, "the dict has no '", key, "'");
  if (list->kind != Kind::list || std::ssize(list->items) != images) {
    return parseError(list->offset, "'", key, "' is ", nameOf(list->kind), " of ", list->items.size(),
                      "; it must be a list of ", images, ", one for each image");
  }
  std::vector<uint8_t> labels;
  for (size_t i = 0; i < list->items.size(); ++i) {
    const PickleValue& value = pickle.item(*list, i);
    const auto label = integerOf(pickle, value);
    if (!label) return parseError(value.offset, "label of image ", i, ": ", label.error().text);
    const auto fault = refuseCifarLabel(layout, {label.value(), static_cast<int64_t>(i), isGroup, value.offset});
    if (fault) return *fault;
    labels.push_back(static_cast<uint8_t>(label.value()));
  }
  return labels;
}

Result<ByteArray> imagesOf(const Pickle& pickle, const PickleValue& root) {
  const PickleValue* const data = pickle.valueOf(root, "data");
  if (data == nullptr) return parseError(root.offset, "the dict has no 'data'");
  auto array = byteArrayOf(pickle, *data);
  if (!array) return parseError(array.error().offset, "'data': ", array.error().text);
  const auto& shape = array.value().shape;
  if (shape.size() == 2 && shape[0] > 0 && shape[1] == CifarLayout::imageBytes) return array;
  return parseError(data->offset, "'data' is no array of images with ", CifarLayout::imageBytes, " bytes each");
}

}  // namespace

Result<CifarBatch> parseCifarPickle(std::span<const uint8_t> bytes) {
  const auto rules = arrayRules("a batch of CIFAR", "fetch cifar-10-python.tar.gz or cifar-100-python.tar.gz again");
  const auto parsed = parsePickle(bytes, rules, limits);
  if (!parsed) return parsed.error();
  const Pickle& pickle = parsed.value();
  const PickleValue& root = pickle.values[pickle.root];
  if (!root.isDict()) return parseError(root.offset, "the file holds ", nameOf(root.kind), ", not a batch of CIFAR");
  const auto layout = std::ranges::find_if(
      cifarLayouts(), [&](const CifarLayout& row) { return pickle.valueOf(root, row.labelKey) != nullptr; });
  if (layout == cifarLayouts().end()) {
    return parseError(root.offset, "the dict has neither 'labels' (CIFAR-10) nor 'fine_labels' (CIFAR-100)");
  }
  const auto array = imagesOf(pickle, root);
  if (!array) return array.error();
  const int64_t images = array.value().shape[0];
  auto labels = labelsOf(pickle, *layout, false, images);
  if (!labels) return labels.error();
  if (layout->groups > 0) {
    if (const auto groups = labelsOf(pickle, *layout, true, images); !groups) return groups.error();
  }
  return CifarBatch{.layout = &*layout,
                    .labels = std::move(labels.value()),
                    .images = array.value().bytes,
                    .stride = CifarLayout::imageBytes,
                    .memory = pickle.decoded};
}

}  // namespace tandem

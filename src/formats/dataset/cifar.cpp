#include "formats/dataset/cifar.h"

#include <algorithm>

#include "formats/dataset/cifar_pickle.h"
#include "formats/objects/pickle.h"

namespace tandem {
namespace {

constexpr CifarLayout layouts[] = {
    {"CIFAR-10", "cifar10", 1, 10, 0, "labels", ""},
    {"CIFAR-100", "cifar100", 2, 100, 20, "fine_labels", "coarse_labels"},
};

std::string lengthsText() {
  std::vector<std::string> rows;
  for (const CifarLayout& layout : layouts) rows.push_back(concat(layout.recordBytes(), " bytes (", layout.name, ")"));
  return join(rows, " or ");
}

Result<CifarBatch> recordsOf(const CifarLayout& layout, std::span<const uint8_t> bytes) {
  CifarBatch batch{.layout = &layout,
                   .labels = {},
                   .images = bytes.subspan(layout.labelBytes),
                   .stride = layout.recordBytes(),
                   .memory = {}};
  for (uint64_t at = 0; at < bytes.size(); at += layout.recordBytes()) {
    const uint64_t labelAt = at + layout.labelBytes - 1;
    const uint8_t label = bytes[labelAt];
    auto fault = refuseCifarLabel(layout, {label, batch.count(), false, labelAt});
    if (!fault && layout.groups > 0) fault = refuseCifarLabel(layout, {bytes[at], batch.count(), true, at});
    if (fault) return *fault;
    batch.labels.push_back(label);
  }
  return batch;
}

}  // namespace

std::span<const CifarLayout> cifarLayouts() { return layouts; }

const CifarLayout* cifarLayoutOf(uint64_t bytes) {
  const auto found = std::ranges::find_if(layouts, [=](const CifarLayout& layout) {
    return bytes > 0 && bytes % static_cast<uint64_t>(layout.recordBytes()) == 0;
  });
  return found == std::end(layouts) ? nullptr : found;
}

std::vector<uint8_t> cifarRecord(const CifarLayout& layout, uint8_t label, std::span<const uint8_t> pixels) {
  std::vector<uint8_t> record(static_cast<size_t>(layout.recordBytes()));
  record[static_cast<size_t>(layout.labelBytes) - 1] = label;
  uint8_t* out = record.data() + layout.labelBytes;
  for (size_t channel = 0; channel < 3; ++channel) {
    for (size_t at = channel; at < pixels.size(); at += 3) *out++ = pixels[at];
  }
  return record;
}

std::optional<ParseError> refuseCifarLabel(const CifarLayout& layout, const CifarLabel& label) {
  const int64_t count = label.isGroup ? layout.groups : layout.classes;
  if (label.value >= 0 && label.value < count) return std::nullopt;
  return parseError(label.offset, "label ", label.value, " of image ", label.image, "; ", layout.name, " has ",
                    label.isGroup ? "coarse labels 0 to " : "labels 0 to ", count - 1,
                    ", so the file is damaged or of another format");
}

Result<CifarBatch> parseCifar(std::span<const uint8_t> bytes) {
  if (isPickle(bytes)) return parseCifarPickle(bytes);
  if (bytes.empty()) {
    return parseError(0, "the file is empty; a batch of CIFAR has records of ", lengthsText(), "; fetch it again");
  }
  const CifarLayout* const layout = cifarLayoutOf(bytes.size());
  if (layout == nullptr) {
    return parseError(0, "the file is ", bytes.size(), " bytes, which are no whole records of ", lengthsText(),
                      "; truncated or another format, fetch it again");
  }
  return recordsOf(*layout, bytes);
}

}  // namespace tandem

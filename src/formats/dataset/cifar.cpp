#include "formats/dataset/cifar.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace tandem {
namespace {

constexpr CifarLayout layouts[] = {
    {"CIFAR-10", "cifar10", 1, 10, 0},
    {"CIFAR-100", "cifar100", 2, 100, 20},
};

std::string lengthsText() {
  std::vector<std::string> rows;
  for (const CifarLayout& layout : layouts) rows.push_back(concat(layout.recordBytes(), " bytes (", layout.name, ")"));
  return join(rows, " or ");
}

std::optional<ParseError> labelFault(const CifarBatch& batch) {
  const CifarLayout& layout = *batch.layout;
  for (int64_t i = 0; i < batch.count(); ++i) {
    const int64_t at = i * layout.recordBytes();
    const int64_t group = layout.groups > 0 ? batch.records[at] : 0;
    if (batch.label(i) < layout.classes && (layout.groups == 0 || group < layout.groups)) continue;
    const bool isGroup = batch.label(i) < layout.classes;
    return parseError(isGroup ? at : at + layout.labelBytes - 1, "label ", isGroup ? group : batch.label(i),
                      " of record ", i, "; ", layout.name, " has ", isGroup ? "coarse labels 0 to " : "labels 0 to ",
                      (isGroup ? layout.groups : layout.classes) - 1, ", so the file is damaged or of another format");
  }
  return std::nullopt;
}

}  // namespace

std::span<const CifarLayout> cifarLayouts() { return layouts; }

const CifarLayout* cifarLayoutOf(uint64_t bytes) {
  const auto found = std::ranges::find_if(layouts, [=](const CifarLayout& layout) {
    return bytes > 0 && bytes % static_cast<uint64_t>(layout.recordBytes()) == 0;
  });
  return found == std::end(layouts) ? nullptr : found;
}

const char* const cifarPickleHint =
    "this is a Python pickle (CIFAR's 'python version'), which is never loaded; fetch the 'binary version', "
    "cifar-10-binary.tar.gz or cifar-100-binary.tar.gz, and give the folder of its .bin files";

bool isPickle(std::span<const uint8_t> head) {
  return head.size() >= 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5;
}

Result<CifarBatch> parseCifar(std::span<const uint8_t> bytes) {
  if (isPickle(bytes)) return parseError(0, cifarPickleHint);
  if (bytes.empty()) {
    return parseError(0, "the file is empty; a batch of CIFAR has records of ", lengthsText(), "; fetch it again");
  }
  const CifarLayout* const layout = cifarLayoutOf(bytes.size());
  if (layout == nullptr) {
    return parseError(0, "the file is ", bytes.size(), " bytes, which are no whole records of ", lengthsText(),
                      "; truncated or another format, fetch it again");
  }
  const CifarBatch batch{layout, bytes};
  if (const auto fault = labelFault(batch)) return *fault;
  return batch;
}

}  // namespace tandem

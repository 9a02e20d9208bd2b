#include "formats/weights/pth.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "base/text.h"
#include "base/utf8.h"
#include "formats/weights/pth_tensors.h"

namespace tandem {
namespace {

constexpr std::string_view wrappers[] = {"state_dict", "model_state_dict", "model"};
constexpr size_t deepest = 4;

/// Maps the archive's records by their names below the first folder.
Result<PthRecords> recordsOf(const std::vector<ZipEntry>& entries) {
  if (entries.empty()) return parseError(0, "the zip file is empty");
  const std::string_view first = entries.front().name;
  const std::string_view folder = first.substr(0, first.find('/') + 1);
  PthRecords records;
  for (const ZipEntry& entry : entries) {
    if (folder.empty() || !entry.name.starts_with(folder)) {
      return parseError(entry.offset, "zip entry '", escaped(entry.name),
                        "' stands outside the one folder of an archive of torch.save");
    }
    records.emplace(entry.name.substr(folder.size()), entry);
  }
  return records;
}

std::string_view textOf(const PthRecords& records, std::string_view name) {
  const auto found = records.find(name);
  if (found == records.end()) return {};
  const auto data = found->second.data;
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

/// Checks records that torch.load reads although nothing here depends on them.
std::optional<ParseError> refuseOddRecords(const PthRecords& records) {
  const std::string_view alignment = textOf(records, ".storage_alignment");
  const bool number = !alignment.empty() && alignment.size() < 10 &&
                      std::ranges::all_of(alignment, [](char c) { return c >= '0' && c <= '9'; });
  if (records.contains(".storage_alignment") && !number) {
    return parseError(records.at(".storage_alignment").offset, "the alignment of storages is '", escaped(alignment),
                      "', not a number; the file is damaged");
  }
  const std::string_view id = textOf(records, ".data/serialization_id");
  if (isUtf8(id)) return std::nullopt;
  return parseError(records.at(".data/serialization_id").offset, "the archive's id is '", escaped(id), "', not UTF-8");
}

std::optional<ParseError> refuseArchive(const PthRecords& records) {
  if (records.contains("constants.pkl")) {
    return parseError(0, "this is a TorchScript archive, which holds code; save the model's state_dict() instead");
  }
  if (!records.contains("data.pkl")) return parseError(0, "the zip file is not of torch.save: it has no data.pkl");
  const std::string_view order = textOf(records, "byteorder");
  if (records.contains("byteorder") && order != "little") {
    return parseError(records.at("byteorder").offset, "byte order '", escaped(order), "'; only little is read");
  }
  constexpr int newest = 10;
  const std::string_view version = textOf(records, "version");
  int number = 0;
  const auto [end, failure] = std::from_chars(version.data(), version.data() + version.size(), number);
  const bool whole = std::string_view(end, version.data() + version.size() - end) == "\n" || end == version.end();
  if (failure != std::errc() || !whole || number < 1 || number > newest) {
    return parseError(0, "the archive's version is '", escaped(version), "'; 1 to ", newest, " are read");
  }
  return refuseOddRecords(records);
}

/// Finds the state dict among the values and names its tensors.
class StateDict {
 public:
  StateDict(const Pickle& pickle, const PthTensors& tensors) : pickle_(pickle), tensors_(tensors) {}

  Result<Pth> read() {
    const PickleValue* dict = &pickle_.values[pickle_.root];
    if (!dict->isDict()) return parseError(dict->offset, "the file holds ", nameOf(dict->kind), ", not a state dict");
    while (const PickleValue* const inner = wrapped(*dict)) {
      if (pth_.within.size() > deepest) return parseError(inner->offset, "state dicts are nested too deeply");
      dict = inner;
    }
    if (auto error = nameTensors(*dict)) return *error;
    if (pth_.tensors.empty()) return parseError(dict->offset, "the state dict holds no tensors");
    if (auto name = repeatedName(pth_.tensors))
      return parseError(dict->offset, "tensor '", escaped(*name), "' is there twice");
    return std::move(pth_);
  }

 private:
  /// The dict under one of the keys that wrap a state dict, or null.
  const PickleValue* wrapped(const PickleValue& dict) {
    for (const std::string_view key : wrappers) {
      const PickleValue* const inner = pickle_.valueOf(dict, key);
      if (inner == nullptr || !inner->isDict()) continue;
      pth_.within.emplace_back(key);
      for (size_t i = 0; i < dict.items.size(); i += 2) {
        const PickleValue& other = pickle_.values[dict.items[i]];
        const std::string name =
            other.kind == PickleValue::Kind::text ? escaped(other.text) : std::to_string(other.integer);
        if (name != key) pth_.skipped.push_back(name);
      }
      return inner;
    }
    return nullptr;
  }

  std::optional<ParseError> nameTensors(const PickleValue& dict) {
    for (size_t i = 0; i < dict.items.size(); i += 2) {
      const PickleValue& key = pickle_.values[dict.items[i]];
      const PickleValue& value = pickle_.values[dict.items[i + 1]];
      if (key.kind != PickleValue::Kind::text) {
        return parseError(key.offset, "the key of an entry of the state dict is ", nameOf(key.kind), ", not a text");
      }
      if (auto fault = nameFault(key.text)) return parseError(key.offset, *fault);
      const FileTensor* const tensor = tensors_.of(dict.items[i + 1]);
      if (tensor == nullptr) {
        return parseError(value.offset, "entry '", escaped(key.text), "' of the state dict is ", nameOf(value.kind),
                          ", not a tensor; save a dict of tensors, or one with the key state_dict");
      }
      pth_.tensors.push_back(*tensor);
      pth_.tensors.back().name = key.text;
    }
    return std::nullopt;
  }

  const Pickle& pickle_;
  const PthTensors& tensors_;
  Pth pth_;
};

std::optional<ParseError> refuseExpansion(const Pth& pth, uint64_t fileBytes, const PthLimits& limits) {
  uint64_t total = 0;
  for (const FileTensor& tensor : pth.tensors) {
    if (__builtin_add_overflow(total, tensor.byteCount(), &total)) total = UINT64_MAX;
  }
  if (total <= limits.expansionFrom || total / fileBytes < limits.expansion) return std::nullopt;
  return parseError(0, "the tensors have ", total, " bytes in a file of ", fileBytes, ", over the limit of ",
                    limits.expansion, " to 1: they share storages; save clones of them");
}

}  // namespace

bool isLegacyPth(std::span<const uint8_t> head) {
  constexpr uint8_t magic[] = {0x80, 0x02, 0x8A, 0x0A, 0x6C, 0xFC, 0x9C, 0x46,
                               0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19, 0x2E};
  return head.size() >= std::size(magic) && std::equal(std::begin(magic), std::end(magic), head.begin());
}

Result<Pth> parsePth(std::span<const uint8_t> bytes, const PthLimits& limits) {
  auto entries = parseZip(bytes, limits.zip);
  if (!entries) return entries.error();
  const auto records = recordsOf(entries.value());
  if (!records) return records.error();
  if (auto error = refuseArchive(records.value())) return *error;

  const ZipEntry& data = records.value().at("data.pkl");
  const auto inFile = [&](const ParseError& error) {
    return parseError(data.offset + error.offset, error.text, " (byte ", error.offset, " of data.pkl)");
  };
  const auto pickle = parsePickle(data.data, pthRules(), limits.pickle);
  if (!pickle) return inFile(pickle.error());
  PthTensors tensors(pickle.value(), records.value());
  if (auto error = tensors.check()) return inFile(*error);
  auto pth = StateDict(pickle.value(), tensors).read();
  if (!pth) return inFile(pth.error());
  if (auto error = refuseExpansion(pth.value(), bytes.size(), limits)) return *error;
  return pth;
}

}  // namespace tandem

#include "formats/weights/pth_tensors.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"

namespace tandem {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view rebuildTensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view rebuildParameter = "torch._utils._rebuild_parameter";
constexpr std::string_view callable[] = {rebuildTensor, rebuildParameter};
constexpr std::string_view storagePrefix = "torch.";

std::vector<std::string> makeStorageNames() {
  std::vector<std::string> names;
  for (const ElementType& type : elementTypes()) {
    if (!type.storage.empty()) names.push_back(concat(storagePrefix, type.storage));
  }
  return names;
}

/// Number of elements from the first to the last one that sizes and strides reach. Empty if it exceeds 63 bits.
std::optional<int64_t> reach(const FileTensor& tensor) {
  int64_t last = 0;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    int64_t step = 0;
    if (tensor.shape[d] == 0) return 0;
    if (__builtin_mul_overflow(tensor.shape[d] - 1, tensor.strides[d], &step)) return std::nullopt;
    if (__builtin_add_overflow(last, step, &last)) return std::nullopt;
  }
  if (last == INT64_MAX) return std::nullopt;
  return last + 1;
}

}  // namespace

PickleRules pthRules() {
  static const std::vector<std::string> names = makeStorageNames();
  static const std::vector<std::string_view> storages(names.begin(), names.end());
  return {.content = "a state dict",
          .advice = "save model.state_dict() alone instead of a model",
          .opcodes = PickleOpcodes::ofStateDict,
          .newestProtocol = 2,
          .named = storages,
          .callable = callable,
          .buildable = {}};
}

PthTensors::PthTensors(const Pickle& pickle, const PthRecords& records)
    : pickle_(pickle), records_(records), index_(pickle.values.size(), -1) {}

std::optional<ParseError> PthTensors::check() {
  // Items of tuples have lower numbers. So a storage is read before its tensors, and a tensor before its parameter.
  for (PickleId id = 0; id < pickle_.values.size(); ++id) {
    const PickleValue& value = pickle_.values[id];
    offset_ = value.offset;
    if (value.kind == Kind::persistent && !readStorage(id)) return error_;
    if (value.kind != Kind::reduced) continue;
    const bool tensor = item(value, 0).text == rebuildTensor;
    const bool good = tensor ? readTensor(id, item(value, 1)) : readParameter(id, item(value, 1));
    if (!good) return error_;
  }
  return std::nullopt;
}

const FileTensor* PthTensors::of(PickleId id) const {
  return pickle_.values[id].kind == Kind::reduced ? &tensors_[static_cast<size_t>(index_[id])] : nullptr;
}

template <class... Parts>
bool PthTensors::refuse(const Parts&... parts) {
  error_ = parseError(offset_, parts...);
  return false;
}

bool PthTensors::isEmptyDict(const PickleValue& value) const { return value.isDict() && value.items.empty(); }

// The tuple is ("storage", class, key of the record, device, number of elements).
bool PthTensors::readStorage(PickleId id) {
  const PickleValue& tuple = item(pickle_.values[id], 0);
  constexpr Kind kinds[] = {Kind::text, Kind::global, Kind::text, Kind::text, Kind::integer};
  bool formed = tuple.items.size() == std::size(kinds);
  for (size_t i = 0; formed && i < std::size(kinds); ++i) formed = item(tuple, i).kind == kinds[i];
  if (!formed || item(tuple, 0).text != "storage") {
    return refuse("BINPERSID is not ('storage', class, key, place, number of elements)");
  }
  const std::string_view className = item(tuple, 1).text;
  const auto* const type =
      className.starts_with(storagePrefix) ? elementTypeOfStorage(className.substr(storagePrefix.size())) : nullptr;
  if (type == nullptr) return refuse("a storage of class '", className, "'");
  const std::string_view key = item(tuple, 2).text;
  const auto record = records_.find(concat("data/", key));
  if (record == records_.end()) return refuse("storage '", escaped(key), "' has no record in the archive");
  const int64_t count = item(tuple, 4).integer;
  const uint64_t bytes = record->second.data.size();
  if (count < 0 || bytes % type->bytes != 0 || static_cast<uint64_t>(count) != bytes / type->bytes) {
    return refuse("storage '", escaped(key), "' has ", count, " elements of ", type->bytes, " bytes, its record ",
                  bytes, " bytes");
  }
  if (!typeOfKey_.emplace(key, type).second && typeOfKey_.at(key) != type) {
    return refuse("storage '", escaped(key), "' is used with two types");
  }
  index_[id] = static_cast<int32_t>(storages_.size());
  storages_.push_back({type, record->second.data});
  return true;
}

// The arguments are (storage, offset, sizes, strides, requires gradient, hooks).
bool PthTensors::readTensor(PickleId id, const PickleValue& arguments) {
  constexpr Kind kinds[] = {Kind::persistent, Kind::integer, Kind::tuple, Kind::tuple, Kind::boolean};
  bool formed = arguments.items.size() == std::size(kinds) + 1;
  for (size_t i = 0; formed && i < std::size(kinds); ++i) formed = item(arguments, i).kind == kinds[i];
  if (!formed) {
    return refuse("_rebuild_tensor_v2 without (storage, offset, sizes, strides, requires_grad, hooks)");
  }
  const Storage& storage = storages_[static_cast<size_t>(index_[arguments.items[0]])];
  FileTensor tensor;
  tensor.type = storage.type;
  if (!checkGradient(*storage.type, item(arguments, 4), item(arguments, 5))) return false;
  if (!readSizes(item(arguments, 2), tensor.shape) || !readSizes(item(arguments, 3), tensor.strides)) return false;
  if (!placeTensor(tensor, storage, item(arguments, 1).integer)) return false;
  index_[id] = static_cast<int32_t>(tensors_.size());
  tensors_.push_back(std::move(tensor));
  return true;
}

// The arguments are (tensor, requires gradient, hooks).
bool PthTensors::readParameter(PickleId id, const PickleValue& arguments) {
  const bool formed =
      arguments.items.size() == 3 && of(arguments.items[0]) != nullptr && item(arguments, 1).kind == Kind::boolean;
  if (!formed) return refuse("_rebuild_parameter without (tensor, requires_grad, hooks)");
  index_[id] = index_[arguments.items[0]];
  return checkGradient(*of(id)->type, item(arguments, 1), item(arguments, 2));
}

bool PthTensors::checkGradient(const ElementType& type, const PickleValue& wanted, const PickleValue& hooks) {
  if (!isEmptyDict(hooks)) return refuse("a tensor has hooks; save state_dict()");
  if (wanted.integer == 0 || type.floating()) return true;
  return refuse("a tensor of type ", type.name, " requires a gradient");
}

bool PthTensors::readSizes(const PickleValue& tuple, std::vector<int64_t>& sizes) {
  if (tuple.items.size() > FileTensor::maxRank) {
    return refuse("a tensor has ", tuple.items.size(), " dimensions; at most ", FileTensor::maxRank, " are read");
  }
  for (size_t i = 0; i < tuple.items.size(); ++i) {
    const PickleValue& size = item(tuple, i);
    if (size.kind != Kind::integer || size.integer < 0) {
      return refuse("a size or stride of a tensor is not an integer of at least 0");
    }
    sizes.push_back(size.integer);
  }
  return true;
}

bool PthTensors::placeTensor(FileTensor& tensor, const Storage& storage, int64_t offset) {
  const uint64_t width = tensor.type->bytes;
  const auto held = static_cast<int64_t>(storage.bytes.size() / width);
  if (tensor.shape.size() != tensor.strides.size()) {
    return refuse("a tensor has ", tensor.shape.size(), " sizes and ", tensor.strides.size(), " strides");
  }
  const auto reached = reach(tensor);
  if (offset < 0 || offset > held || !reached || *reached > held - offset) {
    return refuse("a tensor reaches beyond its storage of ", held, " elements");
  }
  // Strides of 0 could make a tensor of a few bytes ask for any amount of memory when it is copied.
  const auto bytes = byteCount(tensor.shape, width);
  if (!bytes || *bytes > storage.bytes.size()) {
    return refuse("a tensor has more elements than its storage, which has ", held, "; save a clone of it");
  }
  tensor.bytes = storage.bytes.subspan(static_cast<uint64_t>(offset) * width, static_cast<uint64_t>(*reached) * width);
  tensor.strides = stridesUnlessRowMajor(tensor.shape, tensor.strides);
  return true;
}

}  // namespace tandem

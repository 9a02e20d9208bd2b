#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/archive/zip.h"
#include "formats/io/result.h"
#include "formats/objects/pickle.h"
#include "formats/weights/file_tensor.h"

namespace tandem {

/// Records of a torch.save archive by their names within it.
using PthRecords = std::map<std::string_view, ZipEntry>;

/// What the pickle of a state dict may hold. It refers to storage classes, and to the functions that rebuild a tensor
/// and a parameter.
PickleRules pthRules();

/// The storages and tensors among the values of a pickle. The pickle and the records must outlive it.
class PthTensors {
 public:
  PthTensors(const Pickle& pickle, const PthRecords& records);

  /// Reads and checks all storages and tensors, referenced or not. Offsets of errors are in the pickle.
  std::optional<ParseError> check();

  /// Returns the tensor of a value, without a name. Null if the value is something else. REQUIRES: check() found no
  /// error.
  const FileTensor* of(PickleId id) const;

 private:
  struct Storage {
    const ElementType* type = nullptr;
    std::span<const uint8_t> bytes;
  };

  template <class... Parts>
  bool refuse(const Parts&... parts);
  const PickleValue& item(const PickleValue& value, size_t i) const { return pickle_.item(value, i); }
  bool isEmptyDict(const PickleValue& value) const;

  bool readStorage(PickleId id);
  bool readTensor(PickleId id, const PickleValue& arguments);
  bool readParameter(PickleId id, const PickleValue& arguments);
  bool readSizes(const PickleValue& tuple, std::vector<int64_t>& sizes);
  bool placeTensor(FileTensor& tensor, const Storage& storage, int64_t offset);
  bool checkGradient(const ElementType& type, const PickleValue& wanted, const PickleValue& hooks);

  const Pickle& pickle_;
  const PthRecords& records_;
  std::vector<int32_t> index_;  // by value: index of its storage or tensor, or -1
  std::vector<Storage> storages_;
  std::vector<FileTensor> tensors_;
  std::map<std::string_view, const ElementType*> typeOfKey_;
  uint64_t offset_ = 0;  // offset of the current value
  std::optional<ParseError> error_;
};

}  // namespace tandem

#include "data/dataset/tf_records.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/text.h"
#include "formats/dataset/tf_example.h"

namespace tandem {
namespace {

/// Whether a name ends as "-00003-of-00128".
bool isShard(std::string_view name) {
  const auto digitsAt = [&](size_t at) {
    return std::ranges::all_of(name.substr(at, 5), [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  if (name.size() < 15) return false;
  const size_t begin = name.size() - 15;
  return name[begin] == '-' && digitsAt(begin + 1) && name.substr(begin + 6, 4) == "-of-" && digitsAt(begin + 10);
}

std::vector<RecordPlace> recordsOf(const std::string& path) { return indexTfRecords(ReadableFile(path)); }

class TfRecordDataset final : public ShardedDataset<std::vector<RecordPlace>> {
 public:
  explicit TfRecordDataset(const ShardList& list) : ShardedDataset(list, recordsOf, "TFRecord files has a record") {
    info_.labelsInside = true;
  }

  std::string nameOf(int64_t index) const override {
    const auto [path, shard, number] = samples_.at(index);
    return concat(path, ", record ", number, " (from 0)");
  }

  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    const auto [path, shard, number] = samples_.at(index);
    storeClass(-1, label);  // not known, if the record cannot be read
    const auto bytes = readTfRecord(ReadableFile(path), shard[number]);
    const auto example = parseImageExample(bytes);
    if (!example) throw DataError(concat(nameOf(index), ": ", example.error().text));
    storeClass(example.value().label, label);
    memory.assign(example.value().image.begin(), example.value().image.end());
    return {.bytes = memory};
  }
};

}  // namespace

bool isTfRecordName(std::string_view name) {
  return name.ends_with(".tfrecord") || name.ends_with(".tfrecords") || isShard(name);
}

std::unique_ptr<Dataset> openTfRecords(const ShardList& list) { return std::make_unique<TfRecordDataset>(list); }

}  // namespace tandem

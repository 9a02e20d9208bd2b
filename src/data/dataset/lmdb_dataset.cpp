#include "data/dataset/lmdb_dataset.h"

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "formats/archive/lmdb.h"
#include "formats/io/file.h"
#include "formats/objects/datapoint.h"

namespace tandem {
namespace {

constexpr uint64_t mostValueBytes = uint64_t{1} << 28;

std::vector<LmdbEntry> entriesOf(const std::string& path) {
  const ReadableFile file(path);
  auto entries = valueOrThrow(indexLmdb(file.size(), readerOf(file)), path);
  std::erase_if(entries, [](const LmdbEntry& entry) { return entry.key == datapointKeys; });
  return entries;
}

class LmdbDataset final : public ShardedDataset<std::vector<LmdbEntry>> {
 public:
  explicit LmdbDataset(const ShardList& list) : ShardedDataset(list, entriesOf, "LMDB files has a datapoint") {
    info_.labelsInside = true;
  }

  std::string nameOf(int64_t index) const override {
    const auto [path, shard, number] = samples_.at(index);
    const LmdbEntry& entry = shard[number];
    return concat(path, ", key '", escaped(entry.key), "' at byte ", entry.offset);
  }

  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    const auto [path, shard, number] = samples_.at(index);
    const LmdbEntry& entry = shard[number];
    storeClass(-1, label);  // not known, if the datapoint cannot be read
    const auto refuse = [&](const auto&... parts) { return DataError(concat(nameOf(index), ": ", parts...)); };
    if (entry.bytes > mostValueBytes) throw refuse("it has ", entry.bytes, " bytes; the limit is ", mostValueBytes);
    const ReadableFile file(path);
    const auto value = readLmdbValue(entry, readerOf(file), memory);
    if (!value) throw refuse(value.error().text);
    const auto parsed = parseDatapoint(value.value());
    if (!parsed) throw refuse("byte ", parsed.error().offset, " of its value: ", parsed.error().text);
    const Datapoint& datapoint = parsed.value();
    storeClass(datapoint.label, label);
    if (datapoint.memory == nullptr) return {.bytes = datapoint.image};
    memory.assign(datapoint.image.begin(), datapoint.image.end());
    return {.bytes = memory};
  }
};

}  // namespace

bool isLmdbShard(std::string_view name) { return name.ends_with(".lmdb") || name.ends_with(".mdb"); }

std::unique_ptr<Dataset> openLmdbDataset(const ShardList& list) { return std::make_unique<LmdbDataset>(list); }

}  // namespace tandem

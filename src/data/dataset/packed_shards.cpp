#include "data/dataset/packed_shards.h"

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "data/dataset/memory_dataset.h"
#include "data/transform/normalizations.h"
#include "formats/dataset/packed_shard.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

PackedShard shardOf(const std::string& path) {
  const ReadableFile file(path);
  return valueOrThrow(parsePackedShard(file.size(), readerOf(file)), path);
}

const LabelKind& kindOf(const PackedFacts& facts, const std::string& path) {
  for (const LabelKind& kind : labelKinds()) {
    if (kind.name != facts.labels) continue;
    if (labelBytes(kind, facts.classes) == static_cast<size_t>(facts.labelBytes)) return kind;
    throw DataError(concat(path, ": its labels have ", facts.labelBytes, " bytes; those of kind '", kind.name, "' for ",
                           facts.classes, " classes have ", labelBytes(kind, facts.classes)));
  }
  throw DataError(concat(path, ": its labels are of the kind '", escaped(facts.labels), "', which is not known"));
}

DatasetInfo infoOf(const PackedFacts& facts, const std::string& path) {
  return {.name = "packed",
          .height = facts.height,
          .width = facts.width,
          .channels = facts.channels,
          .classes = facts.classes,
          .normalization = usualNormalization(),
          .labels = &kindOf(facts, path),
          .classNames = oneLineNames(facts.classNames),
          .sharded = true,
          .onDisk = true};
}

/// Without what is each shard's own.
PackedFacts common(PackedFacts facts) {
  facts.sums = facts.squares = {};
  return facts;
}

class PackedShards final : public ShardedDataset<PackedShard> {
 public:
  explicit PackedShards(const ShardList& list) : ShardedDataset(list, shardOf, "packed shards has a sample") {
    const std::string& first = list.paths.front();
    const PackedFacts facts = common(samples_.shards().front().facts);
    info_ = infoOf(facts, first);
    ChannelSums all;
    for (size_t i = 0; i < list.paths.size(); ++i) {
      const PackedFacts& own = samples_.shards()[i].facts;
      if (common(own) != facts) {
        throw DataError(concat(list.paths[i], ": its samples have another size, or other classes, than those of ",
                               first, "; keep the files of one data set"));
      }
      all.add({own.sums, own.squares});
    }
    if (!info_.encoded()) info_.normalization = all.normalization(size() * info_.height * info_.width, info_.channels);
  }

  std::string nameOf(int64_t index) const override {
    const auto [path, shard, number] = samples_.at(index);
    return concat(path, ", sample ", number, " (from 0) at byte ", shard.places[number].offset);
  }

  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    readLabel(index, label);
    const auto [path, shard, number] = samples_.at(index);
    const PackedPlace& place = shard.places[number];
    memory.resize(place.bytes);
    ReadableFile(path).read(place.offset, memory);
    if (crc32cOf(memory) != place.crc32c) {
      throw DataError(concat(nameOf(index), ": its checksum differs; it is damaged, fetch the file again"));
    }
    return {.bytes = memory, .height = info_.height, .width = info_.width, .channels = info_.channels};
  }

  void readLabel(int64_t index, std::span<uint8_t> label) const override {
    const auto [path, shard, number] = samples_.at(index);
    const std::span<const uint8_t> own = shard.labelOf(number);
    check(own.size() == label.size(), "a label of a packed shard has the bytes that its data set says");
    std::ranges::copy(own, label.begin());
  }
};

}  // namespace

bool isPackedShard(std::string_view name) { return name.ends_with(packedEnding); }

std::unique_ptr<Dataset> openPackedShards(const ShardList& list) { return std::make_unique<PackedShards>(list); }

}  // namespace tandem

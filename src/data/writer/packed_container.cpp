#include "data/dataset/memory_dataset.h"
#include "data/dataset/packed_shards.h"
#include "data/writer/container.h"
#include "formats/dataset/packed_shard.h"

namespace tandem {
namespace {

class PackedWriter final : public ShardWriter {
 public:
  explicit PackedWriter(const ShardPlace& place) : info_(place.info()), writer_(place.path(packedEnding)) {}

  void add(const WrittenSample& sample) override {
    if (!info_.encoded()) sums_.add(sample.bytes, info_.channels);
    writer_.add(sample.bytes, sample.label);
  }

  FileSum commit() override {
    return writer_.commit({.labels = std::string(info_.labels->name),
                           .labelBytes = static_cast<int64_t>(labelBytes(*info_.labels, info_.classes)),
                           .classes = info_.classes,
                           .classNames = info_.classNames,
                           .height = info_.height,
                           .width = info_.width,
                           .channels = info_.channels,
                           .sums = sums_.sums,
                           .squares = sums_.squares});
  }

 private:
  const DatasetInfo info_;
  ChannelSums sums_;
  PackedShardWriter writer_;
};

constexpr std::string_view labels[] = {"class", "flags", "boxes"};

}  // namespace

const ContainerEntry packedContainer{
    .name = "packed",
    .summary = "Tandem's own shards, of image files or pixels, which are read the fastest",
    .ending = packedEnding,
    .pixels = true,
    .labels = labels,
    .open = [](const ShardPlace& place) -> std::unique_ptr<ShardWriter> {
      return std::make_unique<PackedWriter>(place);
    }};

}  // namespace tandem

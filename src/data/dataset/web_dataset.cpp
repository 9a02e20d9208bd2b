#include "data/dataset/web_dataset.h"

#include "base/error.h"
#include "base/text.h"
#include "formats/dataset/web_sample.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

constexpr uint64_t mostImageBytes = uint64_t{1} << 28;

std::vector<WebSample> samplesOf(const std::string& path) {
  const ReadableFile file(path);
  return webSamples(valueOrThrow(indexTar(file.size(), readerOf(file)), path));
}

class WebDataset final : public ShardedDataset<std::vector<WebSample>> {
 public:
  explicit WebDataset(const ShardList& list)
      : ShardedDataset(list, samplesOf, "tar archives has an image or a label") {}

  std::string nameOf(int64_t index) const override {
    const auto [path, shard, number] = samples_.at(index);
    const WebSample& sample = shard[number];
    const uint64_t at = sample.image.bytes > 0 ? sample.image.offset : sample.label.offset;
    return concat(path, ", sample ", number, " (from 0) at byte ", at);
  }

  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    const auto [path, shard, number] = samples_.at(index);
    const WebSample& sample = shard[number];
    storeClass(-1, label);  // not known, if the sample cannot be read
    const auto refuse = [&](const auto&... parts) { throw DataError(concat(nameOf(index), ": ", parts...)); };
    if (sample.label.bytes == 0) refuse("it has no label (.cls, .class or .json)");
    if (sample.label.bytes > mostLabelBytes) {
      refuse("its label has ", sample.label.bytes, " bytes; the limit is ", mostLabelBytes);
    }
    const ReadableFile archive(path);
    memory.resize(sample.label.bytes);
    archive.read(sample.label.offset, memory);
    const auto parsed = sample.parseLabel(memory);
    if (!parsed) refuse(parsed.error().text);
    storeClass(parsed.value(), label);
    if (sample.image.bytes == 0) refuse("it has no image (.jpg, .jpeg or .png)");
    if (sample.image.bytes > mostImageBytes) {
      refuse("its image has ", sample.image.bytes, " bytes; the limit is ", mostImageBytes);
    }
    memory.resize(sample.image.bytes);
    archive.read(sample.image.offset, memory);
    return {.bytes = memory};
  }
};

}  // namespace

bool isWebShard(std::string_view name) { return name.ends_with(".tar"); }

std::unique_ptr<Dataset> openWebDataset(const ShardList& list) { return std::make_unique<WebDataset>(list); }

}  // namespace tandem

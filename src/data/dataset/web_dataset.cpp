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
    const ReadableFile archive(path);
    readLabel(index, archive, memory, label);
    const WebSample& sample = shard[number];
    if (sample.image.bytes == 0) refuse(index, "it has no image (.jpg, .jpeg or .png)");
    if (sample.image.bytes > mostImageBytes) {
      refuse(index, "its image has ", sample.image.bytes, " bytes; the limit is ", mostImageBytes);
    }
    memory.resize(sample.image.bytes);
    archive.read(sample.image.offset, memory);
    return {.bytes = memory};
  }

  void readLabel(int64_t index, std::span<uint8_t> label) const override {
    std::vector<uint8_t> memory;
    readLabel(index, ReadableFile(samples_.at(index).path), memory, label);
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(int64_t index, const Parts&... parts) const {
    throw DataError(concat(nameOf(index), ": ", parts...));
  }

  void readLabel(int64_t index, const ReadableFile& archive, std::vector<uint8_t>& memory,
                 std::span<uint8_t> label) const {
    const auto [path, shard, number] = samples_.at(index);
    const WebSample& sample = shard[number];
    storeClass(-1, label);  // not known, if it cannot be read
    if (sample.label.bytes == 0) refuse(index, "it has no label (.cls, .class or .json)");
    if (sample.label.bytes > mostLabelBytes) {
      refuse(index, "its label has ", sample.label.bytes, " bytes; the limit is ", mostLabelBytes);
    }
    memory.resize(sample.label.bytes);
    archive.read(sample.label.offset, memory);
    const auto parsed = sample.parseLabel(memory);
    if (!parsed) refuse(index, parsed.error().text);
    storeClass(parsed.value(), label);
  }
};

}  // namespace

bool isWebShard(std::string_view name) { return name.ends_with(".tar"); }

std::unique_ptr<Dataset> openWebDataset(const ShardList& list) { return std::make_unique<WebDataset>(list); }

}  // namespace tandem

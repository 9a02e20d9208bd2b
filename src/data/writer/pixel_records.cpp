#include "data/writer/pixel_records.h"

#include <algorithm>

#include "base/text.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

class RecordWriter final : public ShardWriter {
 public:
  RecordWriter(const ShardPlace& place, RecordOf recordOf)
      : info_(place.info()), recordOf_(recordOf), file_(place.path(recordsEnding)) {}

  void add(const WrittenSample& sample) override { file_.append(recordOf_(info_, sample)); }
  FileSum commit() override { return file_.commit(); }

 private:
  const DatasetInfo info_;
  const RecordOf recordOf_;
  SummedFile file_;
};

}  // namespace

std::unique_ptr<ShardWriter> recordWriter(const ShardPlace& place, RecordOf recordOf) {
  return std::make_unique<RecordWriter>(place, recordOf);
}

PixelRecords::PixelRecords(const ShardPlace& place, int64_t recordBytes) : recordBytes_(recordBytes) {
  ShardPlace part = place;
  for (part.shard = 0; part.shard < part.count; ++part.shard) {
    paths_.push_back(part.path(recordsEnding));
    size_ += static_cast<int64_t>(ReadableFile(paths_.back()).size()) / recordBytes_;
  }
}

void PixelRecords::read(const std::function<void(std::span<const uint8_t> record)>& take) const {
  std::vector<uint8_t> record(static_cast<size_t>(recordBytes_));
  for (const std::string& path : paths_) {
    const ReadableFile file(path);
    for (uint64_t at = 0; at < file.size(); at += record.size()) {
      file.read(at, record);
      take(record);
    }
  }
}

std::string twoSplitsBreach(std::span<const NewSplit> splits) {
  if (std::ranges::count_if(splits, &NewSplit::trains) + 1 >= std::ssize(splits)) return {};
  return "has places for training images and one other split; leave one out by --data-split, or use another container";
}

std::string classesBreach(const DatasetInfo& info, int64_t most) {
  if (info.classes <= most) return {};
  const auto takesAny = [&](const ContainerEntry& other) {
    return other.pixels && other.breach == nullptr && other.holds(*info.labels);
  };
  return concat("holds at most ", most, " classes, and there are ", info.classes, "; use ", containersThat(takesAny));
}

uint8_t classByte(const DatasetInfo& info, const WrittenSample& sample) {
  return static_cast<uint8_t>(info.labels->classesIn(sample.label).front());
}

}  // namespace tandem

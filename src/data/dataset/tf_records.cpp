#include "data/dataset/tf_records.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/text.h"
#include "data/transform/normalizations.h"
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

/// A file is opened anew for each image: there may be more of them than a process may have open.
class TfRecordDataset final : public Dataset {
 public:
  explicit TfRecordDataset(const ShardList& list) : info_(list.info), paths_(list.paths), places_(paths_.size()) {
    info_.normalization = usualNormalization();
    at::parallel_for(0, std::ssize(paths_), 1, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        places_[i] = indexTfRecords(ReadableFile(paths_[i]));
      }
    });
    for (const auto& places : places_) samples_.add(std::ssize(places));
    if (size() == 0) throw DataError(concat(paths_.front(), ": none of the TFRecord files has a record"));
  }

  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return samples_.size(); }

  std::string nameOf(int64_t index) const override {
    const auto [file, record] = samples_.at(index);
    return concat(paths_[file], ", record ", record, " (from 0)");
  }

  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    const auto [file, record] = samples_.at(index);
    storeClass(-1, label);  // not known, if the record cannot be read
    const auto bytes = readTfRecord(ReadableFile(paths_[file]), places_[file][record]);
    const auto example = parseImageExample(bytes);
    if (!example) throw DataError(concat(nameOf(index), ": ", example.error().text));
    storeClass(example.value().label, label);
    memory.assign(example.value().image.begin(), example.value().image.end());
    return {.bytes = memory};
  }

 private:
  DatasetInfo info_;
  const std::vector<std::string> paths_;
  std::vector<std::vector<RecordPlace>> places_;  // of each file
  ShardedSamples samples_;
};

}  // namespace

bool isTfRecordName(std::string_view name) {
  return name.ends_with(".tfrecord") || name.ends_with(".tfrecords") || isShard(name);
}

std::unique_ptr<Dataset> openTfRecords(const ShardList& list) { return std::make_unique<TfRecordDataset>(list); }

}  // namespace tandem

#include "data/dataset/tf_records.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "data/transform/normalizations.h"
#include "formats/dataset/tf_example.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

/// Whether a name ends as "-00003-of-00128".
bool isShard(std::string_view name) {
  const auto digitsAt = [&](size_t at) {
    return std::ranges::all_of(name.substr(at, 5), [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  if (name.size() < 15) return false;
  const size_t begin = name.size() - 15;
  return name[begin] == '-' && digitsAt(begin + 1) && name.substr(begin + 6, 4) == "-of-" && digitsAt(begin + 10);
}

bool isTfRecordName(std::string_view name) {
  return name.ends_with(".tfrecord") || name.ends_with(".tfrecords") || isShard(name);
}

/// A file is opened anew for each image: there may be more of them than a process may have open.
class TfRecordDataset final : public Dataset {
 public:
  explicit TfRecordDataset(const TfRecordList& list) : info_(list.info), paths_(list.paths), places_(paths_.size()) {
    info_.normalization = usualNormalization();
    at::parallel_for(0, std::ssize(paths_), 1, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        places_[i] = indexTfRecords(ReadableFile(paths_[i]));
      }
    });
    int64_t count = 0;
    for (const auto& places : places_) ends_.push_back(count += std::ssize(places));
    if (count == 0) throw DataError(concat(paths_.front(), ": none of the TFRecord files has a record"));
  }

  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return ends_.back(); }

  std::string nameOf(int64_t index) const override {
    const auto [file, record] = placeOf(index);
    return concat(paths_[file], ", record ", record, " (from 0)");
  }

  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    const auto [file, record] = placeOf(index);
    storeClass(-1, label);  // not known, if the record cannot be read
    const auto bytes = readTfRecord(ReadableFile(paths_[file]), places_[file][record]);
    const auto example = parseImageExample(bytes);
    if (!example) throw DataError(concat(nameOf(index), ": ", example.error().text));
    storeClass(example.value().label, label);
    memory.assign(example.value().image.begin(), example.value().image.end());
    return {.bytes = memory};
  }

 private:
  /// The file, and the record in it.
  std::pair<size_t, size_t> placeOf(int64_t index) const {
    const auto file = static_cast<size_t>(std::ranges::upper_bound(ends_, index) - ends_.begin());
    const int64_t before = file == 0 ? 0 : ends_[file - 1];
    return {file, static_cast<size_t>(index - before)};
  }

  DatasetInfo info_;
  const std::vector<std::string> paths_;
  std::vector<std::vector<RecordPlace>> places_;  // of each file
  std::vector<int64_t> ends_;                     // number of records in the files up to each
};

}  // namespace

std::optional<TfRecordList> listTfRecords(const std::string& folder, DataSplit split) {
  std::vector<std::string> all, training, test;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!isTfRecordName(name) || !entry.is_regular_file(error)) continue;
    const std::string path = entry.path().string();
    all.push_back(path);
    if (name.starts_with("train")) training.push_back(path);
    if (name.starts_with("val") || name.starts_with("test")) test.push_back(path);
  }
  if (all.empty()) return std::nullopt;
  TfRecordList list;
  list.info.name = "tfrecord";
  list.paths = training.empty() ? all : split == DataSplit::training ? training : test;
  if (list.paths.empty()) {
    throw DataError(concat("data folder '", folder,
                           "' has TFRecord files of training images alone; those of test images "
                           "begin with validation, val or test"));
  }
  std::ranges::sort(list.paths);
  return list;
}

std::unique_ptr<Dataset> openTfRecords(const TfRecordList& list) { return std::make_unique<TfRecordDataset>(list); }

}  // namespace tandem

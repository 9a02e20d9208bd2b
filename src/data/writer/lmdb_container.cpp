#include "base/text.h"
#include "data/writer/container.h"
#include "formats/archive/lmdb_writer.h"
#include "formats/objects/datapoint.h"

namespace tandem {
namespace {

constexpr std::string_view ending = ".lmdb";
constexpr size_t keyDigits = 8;

/// As tensorpack's LMDBSerializer: keys are numbers in this file, and the list of them is the last entry.
class LmdbShardWriter final : public ShardWriter {
 public:
  explicit LmdbShardWriter(const ShardPlace& place) : info_(place.info()), file_(place.path(ending)) {}

  void add(const WrittenSample& sample) override {
    const auto label = static_cast<int32_t>(info_.labels->classesIn(sample.label).front());
    keys_.push_back(digits(std::ssize(keys_), keyDigits));
    file_.add(keys_.back(), pickledDatapoint(sample.bytes, label));
  }

  FileSum commit() override {
    file_.add(datapointKeys, pickledKeys(keys_));
    return file_.commit();
  }

 private:
  const DatasetInfo info_;
  std::vector<std::string> keys_;
  LmdbWriter file_;
};

constexpr std::string_view labels[] = {"class"};

}  // namespace

const ContainerEntry lmdbContainer{.name = "lmdb",
                                   .summary = "LMDB files of datapoints [image file, label], as tensorpack writes them",
                                   .ending = ending,
                                   .labels = labels,
                                   .open = [](const ShardPlace& place) -> std::unique_ptr<ShardWriter> {
                                     return std::make_unique<LmdbShardWriter>(place);
                                   }};

}  // namespace tandem

#include "base/text.h"
#include "data/writer/container.h"
#include "formats/dataset/tf_example.h"
#include "formats/log/tfrecord.h"

namespace tandem {
namespace {

constexpr std::string_view ending = ".tfrecord";

class TfWriter final : public ShardWriter {
 public:
  explicit TfWriter(const ShardPlace& place) : info_(place.info()), file_(place.path(ending)) {}

  void add(const WrittenSample& sample) override {
    const int64_t label = info_.labels->classesIn(sample.label).front();
    const auto& names = info_.classNames;
    const std::string_view name = names.empty() ? "" : std::string_view(names.at(static_cast<size_t>(label)));
    const std::string example =
        imageExampleOf({.image = sample.bytes, .label = label, .format = sample.format->name, .className = name});
    file_.append(asBytes(tfrecordOf(example)));
  }

  FileSum commit() override { return file_.commit(); }

 private:
  const DatasetInfo info_;
  SummedFile file_;
};

constexpr std::string_view labels[] = {"class"};

}  // namespace

const ContainerEntry tfContainer{
    .name = "tfrecord",
    .summary = "TFRecords of image files, with the features of ImageNet's scripts",
    .ending = ending,
    .labels = labels,
    .open = [](const ShardPlace& place) -> std::unique_ptr<ShardWriter> { return std::make_unique<TfWriter>(place); }};

}  // namespace tandem

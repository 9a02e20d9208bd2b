#include "base/text.h"
#include "data/writer/container.h"
#include "formats/archive/tar.h"

namespace tandem {
namespace {

constexpr std::string_view ending = ".tar";
constexpr size_t keyDigits = 9;

class WebWriter final : public ShardWriter {
 public:
  explicit WebWriter(const ShardPlace& place) : info_(place.info()), file_(place.path(ending)) {}

  void add(const WrittenSample& sample) override {
    const std::string key = digits(sample.index, keyDigits);
    addFile(key + std::string(sample.format->ending), sample.bytes);
    addFile(key + ".cls", asBytes(concat(info_.labels->classesIn(sample.label).front())));
  }

  FileSum commit() override {
    file_.append(tarEnd());
    return file_.commit();
  }

 private:
  void addFile(const std::string& name, std::span<const uint8_t> bytes) {
    file_.append(tarHeader(name, bytes.size()));
    file_.append(bytes);
    file_.append(tarPadding(bytes.size()));
  }

  const DatasetInfo info_;
  SummedFile file_;
};

constexpr std::string_view labels[] = {"class"};

}  // namespace

const ContainerEntry webContainer{
    .name = "webdataset",
    .summary = "tar archives of image files with a .cls each",
    .ending = ending,
    .labels = labels,
    .open = [](const ShardPlace& place) -> std::unique_ptr<ShardWriter> { return std::make_unique<WebWriter>(place); }};

}  // namespace tandem

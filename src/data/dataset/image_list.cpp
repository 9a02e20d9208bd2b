#include "data/dataset/image_list.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "data/transform/normalizations.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

constexpr uint64_t largestFile = uint64_t{1} << 28;

class ImageListDataset final : public Dataset {
 public:
  ImageListDataset(std::shared_ptr<const ImageList> list, const Normalization* normalization)
      : list_(std::move(list)), info_(list_->info), labelBytes_(labelBytes(*info_.labels, info_.classes)) {
    info_.normalization = normalization != nullptr ? *normalization : usualNormalization();
  }

  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return list_->files.size(); }
  std::string nameOf(int64_t index) const override { return concat(list_->folder, list_->files.at(index)); }

  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    readLabel(index, label);
    memory = readFile(nameOf(index), largestFile);
    return {.bytes = memory};
  }

  void readLabel(int64_t index, std::span<uint8_t> label) const override {
    const auto own = std::span(list_->labels).subspan(static_cast<size_t>(index) * labelBytes_, labelBytes_);
    std::ranges::copy(own, label.begin());
  }

 private:
  std::shared_ptr<const ImageList> list_;
  DatasetInfo info_;
  size_t labelBytes_;
};

}  // namespace

void ImageList::addClass(std::string_view file, int64_t label) {
  files.add(file);
  labels.resize(labels.size() + sizeof label);
  storeClass(label, std::span(labels).last(sizeof label));
}

std::unique_ptr<Dataset> openImageList(std::shared_ptr<const ImageList> list, const Normalization* normalization) {
  return std::make_unique<ImageListDataset>(std::move(list), normalization);
}

std::unique_ptr<Dataset> imageFiles(const std::vector<std::string>& paths, const Normalization* normalization) {
  auto list = std::make_shared<ImageList>();
  list->info.name = "image files";
  for (const std::string& path : paths) list->addClass(path, -1);
  return openImageList(std::move(list), normalization);
}

bool isImageName(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == name.npos) return false;
  const std::string ending = lowered(name.substr(dot));
  constexpr std::array<std::string_view, 3> endings{".jpg", ".jpeg", ".png"};
  return std::ranges::find(endings, ending) != endings.end();
}

}  // namespace tandem

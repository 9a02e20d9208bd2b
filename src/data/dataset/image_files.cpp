#include "data/dataset/image_files.h"

#include "base/error.h"
#include "base/text.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

constexpr uint64_t largestFile = uint64_t{1} << 28;

class ImageFiles final : public Dataset {
 public:
  ImageFiles(std::vector<std::string> paths, const ImagePreparation& preparation, const Normalization& normalization)
      : paths_(std::move(paths)),
        preparation_(preparation),
        info_{.name = "image files",
              .height = preparation.crop,
              .width = preparation.crop,
              .channels = 3,
              .classes = 0,
              .normalization = normalization} {}

  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return std::ssize(paths_); }

  void get(int64_t index, std::span<uint8_t> out, std::span<uint8_t> label) const override {
    const std::string& path = paths_.at(static_cast<size_t>(index));
    const auto image = decodeImage(readFile(path, largestFile));
    if (!image) throw DataError(concat(path, ": ", image.error().text));
    if (const auto fault = preparationFault(image.value(), preparation_)) throw DataError(concat(path, ": ", *fault));
    prepareImage(image.value(), preparation_, out);
    storeClass(-1, label);
  }

 private:
  std::vector<std::string> paths_;
  ImagePreparation preparation_;
  DatasetInfo info_;
};

}  // namespace

std::unique_ptr<Dataset> imageFiles(std::vector<std::string> paths, const ImagePreparation& preparation,
                                    const Normalization& normalization) {
  return std::make_unique<ImageFiles>(std::move(paths), preparation, normalization);
}

}  // namespace tandem

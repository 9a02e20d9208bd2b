#include "data/writer/sample_converter.h"

#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

TransformChain chainFor(int64_t side) {
  return side == 0 ? TransformChain()
                   : TransformChain::parse(concat("resize:", side, "+center_crop:", side), "the size of pixels");
}

ImageSize sizeOf(const DatasetInfo& info, int64_t side) {
  return side == 0 ? ImageSize{info.height, info.width, 3} : ImageSize{side, side, 3};
}

/// One channel of the three, with the weights of Rec. 601 in 16 bits: as Pillow's convert('L'). Grey stays as it is.
std::vector<uint8_t> greyOf(std::span<const uint8_t> pixels) {
  std::vector<uint8_t> grey(pixels.size() / 3);
  for (size_t i = 0; i < grey.size(); ++i) {
    const uint32_t red = pixels[3 * i], green = pixels[3 * i + 1], blue = pixels[3 * i + 2];
    grey[i] = static_cast<uint8_t>((19595 * red + 38470 * green + 7471 * blue + 0x8000) >> 16);
  }
  return grey;
}

}  // namespace

std::string fileBreach(const Conversion& conversion, const ImageFormat& format) {
  if (conversion.onlyFiles.empty() || lowered(format.name) == conversion.onlyFiles) return {};
  return concat("it is a ", format.name, " file, and ", conversion.onlyFiles,
                " files alone have a place; give --samples=", conversion.onlyFiles, " with --size");
}

SampleConverter::SampleConverter(std::shared_ptr<const Dataset> images, const Conversion& conversion)
    : images_(std::move(images)),
      conversion_(conversion),
      pixels_(*images_, chainFor(conversion.side), sizeOf(images_->info(), conversion.side)) {
  check(keepsSamples() || pixels_.inputBytes() > 0, "SampleConverter: a side for image files");
}

DatasetInfo SampleConverter::info() const {
  DatasetInfo info = images_->info();
  if (conversion_.encoding != nullptr) {
    info.height = info.width = info.channels = 0;
  } else if (conversion_.side > 0) {
    info.height = pixels_.input().height, info.width = pixels_.input().width, info.channels = pixels_.input().channels;
  }
  if (conversion_.grey) info.channels = 1;
  return info;
}

WrittenSample SampleConverter::make(int64_t index) const {
  const DatasetInfo& info = images_->info();
  WrittenSample sample{
      .bytes = {}, .label = std::vector<uint8_t>(labelBytes(*info.labels, info.classes)), .index = index};
  if (keepsSamples()) {
    copy(index, sample);
  } else {
    transform(index, sample);
  }
  checkLabel(sample);
  return sample;
}

void SampleConverter::copy(int64_t index, WrittenSample& sample) const {
  std::vector<uint8_t> memory;
  const Sample read = images_->read(index, memory, sample.label);
  const bool isAll = read.bytes.data() == memory.data() && read.bytes.size() == memory.size();
  sample.bytes = isAll ? std::move(memory) : std::vector(read.bytes.begin(), read.bytes.end());
  if (!read.encoded()) return;
  const auto format = imageFormatOf(sample.bytes);
  if (!format) throw DataError(concat(images_->nameOf(index), ": ", format.error().text));
  sample.format = format.value();
  if (const auto breach = fileBreach(conversion_, *sample.format); !breach.empty()) {
    throw DataError(concat(images_->nameOf(index), ": ", breach));
  }
}

void SampleConverter::transform(int64_t index, WrittenSample& sample) const {
  InputMemory memory;
  const auto [height, width, channels] = pixels_.input();
  Image image{height, width, std::vector<uint8_t>(pixels_.inputBytes())};
  pixels_.make(index, {}, {image.pixels, sample.label, memory});
  if (conversion_.encoding == nullptr) {
    sample.bytes = conversion_.grey ? greyOf(image.pixels) : std::move(image.pixels);
    return;
  }
  sample.bytes = conversion_.encoding->encode(image);
  sample.format = imageFormatOf(sample.bytes).value();
}

// Where the number of classes is not known, only what no class has is refused.
void SampleConverter::checkLabel(const WrittenSample& sample) const {
  const DatasetInfo& info = images_->info();
  const int64_t classes = info.classes == 0 ? std::numeric_limits<int32_t>::max() : info.classes;
  const std::string breach = info.labels->breach(sample.label, classes);
  if (!breach.empty()) throw DataError(concat(images_->nameOf(sample.index), ": ", breach, "; check the data"));
}

}  // namespace tandem

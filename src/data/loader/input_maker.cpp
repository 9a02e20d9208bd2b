#include "data/loader/input_maker.h"

#include "base/error.h"
#include "base/text.h"
#include "formats/image/image.h"

namespace tandem {

std::string InputMaker::fault() const {
  const DatasetInfo& info = dataset_.info();
  return chain_.fault({info.height, info.width, info.channels}, input_);
}

void InputMaker::make(int64_t index, CounterRandom random, const InputPlace& out) const {
  const Sample sample = dataset_.read(index, out.memory, out.label);
  const auto transformed = [&](std::span<const uint8_t> pixels, const ImageSize& size) {
    WorkingImage image(pixels, size);
    chain_.apply(image, {.input = input_, .random = random});
    image.write(out.image);
  };
  try {
    if (!sample.encoded()) return transformed(sample.bytes, {sample.height, sample.width, sample.channels});
    const Result<Image> decoded = decodeImage(sample.bytes);
    if (!decoded) throw DataError(decoded.error().text);
    const Image& image = decoded.value();
    transformed(image.pixels, {image.height, image.width, 3});
  } catch (const DataError& failure) {
    throw DataError(concat(dataset_.nameOf(index), ": ", failure.what()));
  }
}

}  // namespace tandem

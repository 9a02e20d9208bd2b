#include "data/loader/input_maker.h"

#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "formats/image/image.h"

namespace tandem {

std::string InputMaker::fault() const {
  const DatasetInfo& info = dataset_.info();
  return chain_.fault({info.height, info.width, info.channels}, input_);
}

void InputMaker::transform(WorkingImage image, CounterRandom& random, const InputPlace& out) const {
  chain_.apply(image, {.input = input_, .random = random});
  image.write(out.image);
}

void InputMaker::transformFile(std::span<const uint8_t> bytes, CounterRandom& random, const InputPlace& out) const {
  const auto valueOf = [](auto result) {
    if (!result) throw DataError(result.error().text);
    return std::move(result.value());
  };
  const ImageExtent extent = parts_ ? valueOf(partExtent(bytes)) : ImageExtent{};
  Image& image = out.memory.image;
  const auto decode = [&](const ImagePart& part) -> const Image& {
    image = valueOf(decodeImagePart(bytes, part, std::move(image)));
    return image;
  };
  if (extent.height > 0) return transform({extent, decode}, random, out);
  image = valueOf(decodeImage(bytes, {}, std::move(image)));
  transform({image.pixels, {image.height, image.width, 3}}, random, out);
}

void InputMaker::make(int64_t index, CounterRandom random, const InputPlace& out) const {
  const Sample sample = dataset_.read(index, out.memory.bytes, out.label);
  try {
    if (sample.encoded()) return transformFile(sample.bytes, random, out);
    transform({sample.bytes, {sample.height, sample.width, sample.channels}}, random, out);
  } catch (const DataError& failure) {
    throw DataError(concat(dataset_.nameOf(index), ": ", failure.what()));
  }
}

}  // namespace tandem

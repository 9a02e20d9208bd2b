#include "data/loader/input_maker.h"

#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "formats/image/image.h"

namespace tandem {
namespace {

/// Adds the time of its life to `times`.
class Timed {
 public:
  Timed(InputTimes* times, Nanos InputTimes::*part) : part_(times == nullptr ? nullptr : &(times->*part)) {
    if (part_ != nullptr) begin_ = now();
  }
  ~Timed() {
    if (part_ != nullptr) *part_ += now() - begin_;
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Nanos* const part_;
  Nanos begin_{};
};

template <class Value>
Value valueOf(Result<Value> result) {
  if (!result) throw DataError(result.error().text);
  return std::move(result.value());
}

}  // namespace

std::string InputMaker::fault() const {
  const DatasetInfo& info = dataset_.info();
  return chain_.fault({info.height, info.width, info.channels}, input_);
}

void InputMaker::transform(WorkingImage image, ImageDraw& draw, const InputPlace& out) const {
  chain_.apply(image, {.input = input_, .draw = draw});
  image.write(out.image);
}

void InputMaker::transformFile(std::span<const uint8_t> bytes, ImageDraw& draw, const InputPlace& out) const {
  const ImageExtent extent = parts_ ? valueOf(partExtent(bytes)) : ImageExtent{};
  Image& image = out.memory.image;
  const auto decode = [&](const ImagePart& part) -> const Image& {
    const Timed decoding(out.times, &InputTimes::decode);
    image = valueOf(decodeImagePart(bytes, part, std::move(image)));
    return image;
  };
  if (extent.height > 0) return transform({extent, decode}, draw, out);
  {
    const Timed decoding(out.times, &InputTimes::decode);
    image = valueOf(decodeImage(bytes, {}, std::move(image)));
  }
  transform({image.pixels, {image.height, image.width, 3}}, draw, out);
}

void InputMaker::make(int64_t index, ImageDraw draw, const InputPlace& out) const {
  const Sample sample = [&] {
    const Timed reading(out.times, &InputTimes::read);
    return dataset_.read(index, out.memory.bytes, out.label);
  }();
  try {
    if (sample.encoded()) return transformFile(sample.bytes, draw, out);
    transform({sample.bytes, {sample.height, sample.width, sample.channels}}, draw, out);
  } catch (const DataError& failure) {
    throw DataError(concat(dataset_.nameOf(index), ": ", failure.what()));
  }
}

}  // namespace tandem

#include "data/dataset/decoded_dataset.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/text.h"
#include "data/transform/augment.h"

namespace tandem {

DecodedDataset::DecodedDataset(const Dataset& files, int64_t side, int64_t mostBytes) : info_(files.info()) {
  info_.height = info_.width = side, info_.channels = 3;
  constexpr uint64_t mostPlaces = 1 << 20, stride = 389;
  // The odd stride visits all places of a power of two, and its first ones are spread over the whole.
  const uint64_t places = std::bit_floor(std::min(static_cast<uint64_t>(files.size()), mostPlaces));
  const int64_t most = std::max<int64_t>(1, mostBytes / imageBytes());
  for (uint64_t i = 0; i < places && size() < most; ++i) {
    add(files, static_cast<int64_t>(i * stride % places) * files.size() / static_cast<int64_t>(places));
  }
  if (samples_.empty()) throw DataError(concat("no image of data set '", info_.name, "' can be read"));
}

void DecodedDataset::add(const Dataset& files, int64_t index) {
  Kept kept{std::vector<uint8_t>(static_cast<size_t>(imageBytes())),
            std::vector<uint8_t>(labelBytes(*info_.labels, info_.classes))};
  std::vector<uint8_t> memory;
  try {
    const auto decoded = decodeImage(files.read(index, memory, kept.label).bytes);
    if (!decoded) return;
    const Image& image = decoded.value();
    WorkingImage scaled(image.pixels, {image.height, image.width, 3});
    ImageDraw none;
    scaledAndCropped(info_.height).apply(scaled, {.input = {info_.height, info_.width, 3}, .draw = none});
    scaled.write(kept.pixels);
  } catch (const DataError&) {
    return;
  }
  samples_.push_back(std::move(kept));
}

Sample DecodedDataset::read(int64_t index, std::vector<uint8_t>&, std::span<uint8_t> label) const {
  const Kept& kept = samples_.at(static_cast<size_t>(index));
  std::ranges::copy(kept.label, label.begin());
  return {.bytes = kept.pixels, .height = info_.height, .width = info_.width, .channels = info_.channels};
}

}  // namespace tandem

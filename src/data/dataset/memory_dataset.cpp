#include "data/dataset/memory_dataset.h"

#include <cmath>

#include "base/error.h"

namespace tandem {

Normalization measureNormalization(std::span<const uint8_t> pixels, int64_t channels) {
  Normalization measured;
  const double count = static_cast<double>(pixels.size()) / static_cast<double>(channels);
  for (int64_t c = 0; c < channels; ++c) {
    uint64_t sum = 0, squares = 0;
    for (size_t i = c; i < pixels.size(); i += channels) {
      sum += pixels[i];
      squares += uint32_t{pixels[i]} * pixels[i];
    }
    const double mean = static_cast<double>(sum) / count;
    const double variance = static_cast<double>(squares) / count - mean * mean;
    measured.mean[c] = static_cast<float>(mean);
    measured.deviation[c] = variance > 0 ? static_cast<float>(std::sqrt(variance)) : 1.0F;
  }
  for (size_t c = channels; c < 3; ++c) {
    measured.mean[c] = measured.mean[0];
    measured.deviation[c] = measured.deviation[0];
  }
  return measured;
}

MemoryDataset::MemoryDataset(LabelledImages images) : images_(std::move(images)) {
  DatasetInfo& info = images_.info;
  imageBytes_ = info.height * info.width * info.channels;
  check(size() > 0 && static_cast<int64_t>(images_.pixels.size()) == size() * imageBytes_, "MemoryDataset: sizes");
  info.normalization = measureNormalization(images_.pixels, info.channels);
}

Sample MemoryDataset::read(int64_t index, std::vector<uint8_t>&, std::span<uint8_t> label) const {
  check(index >= 0 && index < size(), "MemoryDataset::read: index");
  storeClass(images_.labels[static_cast<size_t>(index)], label);
  const DatasetInfo& info = images_.info;
  const auto image = std::span<const uint8_t>(images_.pixels)
                         .subspan(static_cast<size_t>(index * imageBytes_), static_cast<size_t>(imageBytes_));
  return {.bytes = image, .height = info.height, .width = info.width, .channels = info.channels};
}

}  // namespace tandem

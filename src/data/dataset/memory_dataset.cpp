#include "data/dataset/memory_dataset.h"

#include <cmath>
#include <cstring>

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

void MemoryDataset::get(int64_t index, std::span<uint8_t> image, std::span<uint8_t> label) const {
  check(index >= 0 && index < size() && static_cast<int64_t>(image.size()) == imageBytes_, "MemoryDataset::get: sizes");
  std::memcpy(image.data(), images_.pixels.data() + index * imageBytes_, image.size());
  storeClass(images_.labels[index], label);
}

}  // namespace tandem

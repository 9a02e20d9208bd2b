#include "data/dataset/memory_dataset.h"

#include <cmath>

#include "base/error.h"

namespace tandem {

// A sum for each of 48 bytes, a multiple of the channels, so that the inner loop is one over vectors.
void ChannelSums::add(std::span<const uint8_t> pixels, int64_t channels) {
  constexpr size_t lanes = 48, mostBlocks = 1 << 16;  // of more blocks the squares might not fit into 32 bits
  while (!pixels.empty()) {
    std::array<uint32_t, lanes> sum{}, square{};
    const auto take = [&](size_t bytes) {
      for (size_t i = 0; i < bytes; ++i) sum[i] += pixels[i], square[i] += uint32_t{pixels[i]} * pixels[i];
      pixels = pixels.subspan(bytes);
    };
    for (size_t block = 0; block < mostBlocks && pixels.size() >= lanes; ++block) take(lanes);
    if (pixels.size() < lanes) take(pixels.size());
    for (size_t i = 0; i < lanes; ++i) {
      const size_t channel = i % static_cast<size_t>(channels);
      sums[channel] += sum[i], squares[channel] += square[i];
    }
  }
}

void ChannelSums::add(const ChannelSums& other) {
  for (size_t c = 0; c < sums.size(); ++c) sums[c] += other.sums[c], squares[c] += other.squares[c];
}

Normalization ChannelSums::normalization(int64_t pixels, int64_t channels) const {
  Normalization measured;
  const auto count = static_cast<double>(pixels);
  for (size_t c = 0; c < sums.size(); ++c) {
    const size_t of = c < static_cast<size_t>(channels) ? c : 0;
    const double mean = static_cast<double>(sums[of]) / count;
    const double variance = static_cast<double>(squares[of]) / count - mean * mean;
    measured.mean[c] = static_cast<float>(mean);
    measured.deviation[c] = variance > 0 ? static_cast<float>(std::sqrt(variance)) : 1.0F;
  }
  return measured;
}

Normalization measureNormalization(std::span<const uint8_t> pixels, int64_t channels) {
  ChannelSums sums;
  sums.add(pixels, channels);
  return sums.normalization(std::ssize(pixels) / channels, channels);
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

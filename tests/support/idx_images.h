#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tandem {

using Bytes = std::vector<uint8_t>;

/// An IDX file, the format of MNIST, of unsigned bytes.
inline Bytes idxBytes(const std::vector<uint32_t>& sizes, const Bytes& values) {
  Bytes bytes{0, 0, 8, static_cast<uint8_t>(sizes.size())};
  for (const uint32_t size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<uint8_t>(size >> shift));
  }
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

inline void writeBytes(const std::filesystem::path& file, const Bytes& bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

/// Writes 28x28 images with the labels 0, 1, ... 9, 0, ... into `folder` as MNIST stores them, without the last
/// `missing` bytes of the images. `split`: "train" or "t10k", as MNIST calls its files. Returns the folder.
inline std::string writeIdxImages(const std::filesystem::path& folder, uint32_t count, size_t missing = 0,
                                  const std::string& split = "train") {
  constexpr uint32_t side = 28;
  Bytes pixels(count * side * side), labels(count);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i % 251);
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<uint8_t>(i % 10);
  Bytes images = idxBytes({count, side, side}, pixels);
  images.resize(images.size() - missing);
  writeBytes(folder / (split + "-images-idx3-ubyte"), images);
  writeBytes(folder / (split + "-labels-idx1-ubyte"), idxBytes({count}, labels));
  return folder.string();
}

}  // namespace tandem

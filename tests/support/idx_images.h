#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace tandem {

/// Writes 28x28 images with the labels 0, 1, ... 9, 0, ... into `folder` as MNIST stores them, without the last
/// `missing` bytes of the images. Returns the folder.
inline std::string writeIdxImages(const std::filesystem::path& folder, uint32_t count, uint32_t missing = 0) {
  constexpr uint32_t side = 28;
  const auto open = [&](const char* name, std::initializer_list<uint32_t> head) {
    std::ofstream file(folder / name, std::ios::binary);
    for (const uint32_t value : head) {
      for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(value >> shift & 0xff));
    }
    return file;
  };
  std::filesystem::create_directories(folder);
  std::ofstream images = open("train-images-idx3-ubyte", {0x803, count, side, side});
  for (uint32_t i = 0; i < count * side * side - missing; ++i) images.put(static_cast<char>(i % 251));
  std::ofstream labels = open("train-labels-idx1-ubyte", {0x801, count});
  for (uint32_t i = 0; i < count; ++i) labels.put(static_cast<char>(i % 10));
  return folder.string();
}

}  // namespace tandem

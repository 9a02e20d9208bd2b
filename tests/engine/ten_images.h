#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tandem {

inline void put32(std::ofstream& file, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(value >> shift & 0xff));
}

/// Ten 28x28 images with the labels 0 to 9, as MNIST stores them, in a folder of the running test's own.
inline std::string tenImages() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const auto folder = std::filesystem::path(testing::TempDir()) / (std::string("ten_images_") + test->name());
  std::filesystem::create_directories(folder);
  std::ofstream images(folder / "train-images-idx3-ubyte", std::ios::binary);
  for (const uint32_t value : {0x803U, 10U, 28U, 28U}) put32(images, value);
  for (int i = 0; i < 10 * 28 * 28; ++i) images.put(static_cast<char>(i % 251));
  std::ofstream labels(folder / "train-labels-idx1-ubyte", std::ios::binary);
  for (const uint32_t value : {0x801U, 10U}) put32(labels, value);
  for (int i = 0; i < 10; ++i) labels.put(static_cast<char>(i));
  return folder.string();
}

}  // namespace tandem

#pragma once

#include <gtest/gtest.h>

#include "support/idx_images.h"

namespace tandem {

/// Ten images with the labels 0 to 9, in a folder of the running test's own.
inline std::string tenImages() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  return writeIdxImages(std::filesystem::path(testing::TempDir()) / (std::string("ten_images_") + test->name()), 10);
}

/// Ten empty files with the names of images of two classes, in a folder of the running test's own.
inline std::string tenFiles() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const auto folder = std::filesystem::path(testing::TempDir()) / (std::string("ten_files_") + test->name());
  for (int i = 0; i < 10; ++i) writeBytes(folder / (i < 5 ? "a" : "b") / (std::to_string(i) + ".jpg"), {});
  return folder.string();
}

}  // namespace tandem

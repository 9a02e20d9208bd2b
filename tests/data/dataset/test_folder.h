#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "support/idx_images.h"

namespace tandem {

/// A fresh folder for one test, removed at its end.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = ::testing::TempDir() + "/tandem_data_XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }

  void write(const std::string& name, const Bytes& bytes) const {
    writeBytes(std::filesystem::path(path_) / name, bytes);
  }

  void writeGzip(const std::string& name, const Bytes& bytes) const {
    gzFile file = gzopen((path_ + "/" + name).c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
  }

 private:
  std::string path_;
};

/// `count` images of 2 x 3 pixels whose bytes count up from 0.
inline Bytes idxImages(uint32_t count) {
  Bytes values(6 * count);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i);
  return idxBytes({count, 2, 3}, values);
}

inline Bytes idxLabels(const Bytes& labels) { return idxBytes({static_cast<uint32_t>(labels.size())}, labels); }

/// Records with these labels; record i has red 10 i + 1, green 10 i + 2, blue 10 i + 3.
inline Bytes cifarBytes(const Bytes& labels) {
  Bytes bytes;
  for (size_t i = 0; i < labels.size(); ++i) {
    bytes.push_back(labels[i]);
    for (size_t c = 1; c <= 3; ++c) bytes.insert(bytes.end(), 1024, static_cast<uint8_t>(10 * i + c));
  }
  return bytes;
}

}  // namespace tandem

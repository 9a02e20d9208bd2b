#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/archive/tar.h"
#include "formats/io/result.h"

namespace tandem {

/// A sample of WebDataset: neighbouring files of a tar archive whose names are alike up to the first dot behind the
/// last slash. What is behind it says what a file is.
struct WebSample {
  struct Part {
    uint64_t offset = 0, bytes = 0;
  };
  using ParseLabel = Result<int64_t> (*)(std::span<const uint8_t> bytes);

  Part image, label;  ///< of 0 bytes: there is none
  ParseLabel parseLabel = nullptr;
};

/// The samples of an archive in their order. Of a sample the first image (jpg, jpeg, png) and the first label (cls,
/// class: a number from 0; json: its member "label" or "cls") count; files with other endings are left out.
std::vector<WebSample> webSamples(const std::vector<TarEntry>& entries);

/// Bytes of a label that are read at most.
constexpr uint64_t mostLabelBytes = 1 << 16;

}  // namespace tandem

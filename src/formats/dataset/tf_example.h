#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/io/file.h"
#include "formats/io/result.h"

namespace tandem {

/// Where the bytes of a record lie in its file.
struct RecordPlace {
  uint64_t offset = 0, bytes = 0;
};

/// The places of all records of a TFRecord file, by their lengths alone, whose checksums are compared. Throws DataError
/// "FILE: record N (from 0) at byte OFFSET: ..." for a length that is damaged or reaches behind the file's end: where
/// the next record begins is then unknown.
std::vector<RecordPlace> indexTfRecords(const ReadableFile& file);

/// The bytes of a record. Throws DataError where their checksum differs, or the file ends before.
std::vector<uint8_t> readTfRecord(const ReadableFile& file, const RecordPlace& place);

/// An image file with its label.
struct ImageExample {
  std::string image;
  int64_t label = 0;  ///< from 0
};

/// Reads a tf.train.Example: `image/encoded` and `image/class/label`, which counts from 1, as the scripts of ImageNet
/// write them; or `image` and `label` from 0, as TensorFlow Datasets does.
Result<ImageExample> parseImageExample(std::span<const uint8_t> bytes);

/// What is written of an image. `format`: "JPEG" or "PNG"; `className` may be empty.
struct NewExample {
  std::span<const uint8_t> image;
  int64_t label = 0;  ///< from 0
  std::string_view format, className;
};

/// The bytes of a tf.train.Example with the features of ImageNet's scripts: image/encoded, image/format,
/// image/class/label, which counts from 1, and image/class/text where the class has a name. A function of its argument.
std::string imageExampleOf(const NewExample& example);

}  // namespace tandem

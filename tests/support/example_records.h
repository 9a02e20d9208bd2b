#pragma once

#include <cstdint>
#include <string>

#include "formats/log/tfrecord.h"

namespace tandem::records {

inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value /= 128) bytes += static_cast<char>(value % 128 + 128);
  return bytes + static_cast<char>(value);
}

/// A field of protobuf with these bytes.
inline std::string field(uint64_t number, const std::string& bytes) {
  return varint(number * 8 + 2) + varint(bytes.size()) + bytes;
}

inline std::string feature(const std::string& name, const std::string& value) {
  return field(1, field(1, name) + field(2, value));
}
inline std::string bytesFeature(const std::string& name, const std::string& bytes) {
  return feature(name, field(1, field(1, bytes)));
}
inline std::string numberFeature(const std::string& name, uint64_t number) {
  return feature(name, field(3, field(1, varint(number))));
}

/// A tf.train.Example of features.
inline std::string example(const std::string& features) { return field(1, features); }

/// As the scripts of ImageNet write it; labels count from 1.
inline std::string imageNetExample(const std::string& image, uint64_t label) {
  return example(bytesFeature("image/encoded", image) + numberFeature("image/class/label", label) +
                 bytesFeature("image/format", "JPEG"));
}

}  // namespace tandem::records

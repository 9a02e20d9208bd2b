#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/io/result.h"

namespace tandem {

/// An image file with its label. The image lies in the parsed bytes, or in `memory`.
struct Datapoint {
  std::span<const uint8_t> image;
  int64_t label = 0;  ///< from 0
  std::shared_ptr<const void> memory;
};

/// Reads a datapoint [image, label] as tensorpack serialises it (tensorpack/utils/serialize.py): a pickle, of which
/// nothing is executed, or MessagePack with the maps of msgpack-numpy. The image is bytes or an array of uint8 with one
/// side, the label a whole number of Python or NumPy.
Result<Datapoint> parseDatapoint(std::span<const uint8_t> bytes);

/// A datapoint as tensorpack writes it by default: a pickle of [array of uint8 with one side, number]. REQUIRES: the
/// image has fewer than 2^31 bytes.
std::vector<uint8_t> pickledDatapoint(std::span<const uint8_t> image, int32_t label);

/// tensorpack's list of keys: a pickle of bytes.
std::vector<uint8_t> pickledKeys(std::span<const std::string> keys);

/// The key of tensorpack's list of keys, which is no datapoint.
constexpr std::string_view datapointKeys = "__keys__";

}  // namespace tandem

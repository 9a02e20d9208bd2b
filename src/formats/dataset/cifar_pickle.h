#pragma once

#include <cstdint>
#include <span>

#include "formats/dataset/cifar.h"

namespace tandem {

/// Reads a file of CIFAR's "python version": the pickle of a dict with `data`, an array of bytes [N, 3072], and lists
/// of labels. Nothing of it is executed. Both the files of Python 2 as they are fetched and those that Python 3 wrote
/// again are read. Refuses what parsePickle() refuses, and parts that do not agree.
Result<CifarBatch> parseCifarPickle(std::span<const uint8_t> bytes);

}  // namespace tandem

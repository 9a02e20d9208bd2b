#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace tandem {

/// Fills `out` with the archive's bytes at `offset`. Only ranges within the archive are asked for.
using ReadArchive = std::function<void(uint64_t offset, std::span<uint8_t> out)>;

}  // namespace tandem

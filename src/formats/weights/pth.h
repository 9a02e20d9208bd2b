#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/archive/zip.h"
#include "formats/io/result.h"
#include "formats/weights/file_tensor.h"
#include "formats/weights/pickle.h"

namespace tandem {

struct PthLimits {
  ZipLimits zip;
  PickleLimits pickle;
  uint64_t expansion = 16;  ///< bytes of all tensors / bytes of the file, once above `expansionFrom`
  uint64_t expansionFrom = uint64_t{64} << 20;  ///< bytes
};

/// A state dict in the zip format of torch.save (PyTorch 1.6 and newer). The tensors are views of the bytes parsed.
struct Pth {
  std::vector<FileTensor> tensors;   ///< in the order of the state dict
  std::vector<std::string> within;   ///< keys that lead to the state dict, e.g. "state_dict"; none: it is the file
  std::vector<std::string> skipped;  ///< keys beside those
};

/// True when the bytes start like a file of torch.save before PyTorch 1.6, or with
/// _use_new_zipfile_serialization=False.
bool isLegacyPth(std::span<const uint8_t> head);

/// Reads a dict of dense tensors, on its own or below the keys "state_dict", "model_state_dict" or "model". Every
/// tensor of the file is checked, also those that are not returned: its storage is as long as its record, its sizes and
/// strides stay within its storage and reach no more elements than that has. Nothing of the pickle is executed. Refuses
/// TorchScript, big-endian files, entries of the state dict that are no tensors, and all that parseZip() and
/// parsePickle() refuse.
Result<Pth> parsePth(std::span<const uint8_t> bytes, const PthLimits& limits = {});

}  // namespace tandem

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/archive/zip.h"
#include "formats/io/result.h"
#include "formats/objects/pickle.h"
#include "formats/weights/file_tensor.h"

namespace tandem {

struct PthLimits {
  ZipLimits zip;
  PickleLimits pickle;
  uint64_t expansion = 16;  ///< most bytes of all tensors / bytes of the file; checked above `expansionFrom`
  uint64_t expansionFrom = uint64_t{64} << 20;  ///< bytes of all tensors
};

/// A state dict in the zip format of torch.save (PyTorch 1.6 and newer). The tensors refer to the parsed bytes.
struct Pth {
  std::vector<FileTensor> tensors;  ///< in the order of the state dict
  /// Keys that lead to the state dict, such as "state_dict"; empty: it is the file itself.
  std::vector<std::string> within;
  std::vector<std::string> skipped;  ///< other keys beside them
};

/// True if the bytes start like a file of torch.save before PyTorch 1.6, or with _use_new_zipfile_serialization=False.
bool isLegacyPth(std::span<const uint8_t> head);

/// Reads a dict of dense tensors, either the file itself or below "state_dict", "model_state_dict" or "model". Checks
/// every tensor of the file, returned or not. Its storage must be as long as its record; its sizes and strides must
/// stay within the storage. Nothing of the pickle is executed.
/// Refuses TorchScript, big-endian files, and entries of the state dict that are not tensors. Refuses all that
/// parseZip() and parsePickle() refuse.
Result<Pth> parsePth(std::span<const uint8_t> bytes, const PthLimits& limits = {});

}  // namespace tandem

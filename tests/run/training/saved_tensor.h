#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"
#include "formats/weights/weights_file.h"

namespace tandem {

/// The fp32 values of a tensor in a file of weights, [n].
inline at::Tensor savedIn(const std::string& path, const std::string& name) {
  const auto file = WeightsFile::open(path);
  const auto found = std::ranges::find(file.tensors(), name, &FileTensor::name);
  if (found == file.tensors().end()) throw InternalError("no tensor " + name);
  at::Tensor values = at::empty({static_cast<int64_t>(found->bytes.size() / sizeof(float))});
  std::memcpy(values.mutable_data_ptr(), found->bytes.data(), found->bytes.size());
  return values;
}

}  // namespace tandem

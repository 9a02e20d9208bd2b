#pragma once

#include <ATen/core/Generator.h>

namespace tandem {

/// A random generator of its own on a device.
at::Generator newGenerator(at::Device device, uint64_t seed);

}  // namespace tandem

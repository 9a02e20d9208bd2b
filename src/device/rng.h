#pragma once

#include <ATen/core/Generator.h>

namespace tandem {

/// A new random generator on a device, seeded.
at::Generator newGenerator(at::Device device, uint64_t seed);

}  // namespace tandem

#pragma once

#include <string>

#include "executor/select/kernel_selection.h"

namespace tandem {

/// A selection as JSON, by which rank 0 tells the other ranks what all of them run. REQUIRES: kernels for a CPU, since
/// execution plans of a GPU's libraries have no name that holds in another process.
std::string toText(const KernelSelection& kernels);

/// Throws PeerError if the text is no selection, or names kernels that this program lacks.
KernelSelection kernelSelectionFromText(const std::string& text);

}  // namespace tandem

#pragma once

#include <memory>

#include "executor/executor.h"

namespace tandem {

/// Runs each node as one ATen call and leaves backward to libtorch's autograd: every operation works at once, and it is
/// the oracle of the other executors.
std::unique_ptr<Executor> makeAutogradExecutor(const ExecutorOptions& options);

}  // namespace tandem

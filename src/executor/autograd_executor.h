#pragma once

#include <memory>

#include "executor/executor.h"

namespace tandem {

/// Runs each node as one ATen call; libtorch's autograd computes backward. Supports every operation at once, and is the
/// oracle of the other executors.
std::unique_ptr<Executor> makeAutogradExecutor(const ExecutorOptions& options);

}  // namespace tandem

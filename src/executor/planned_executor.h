#pragma once

#include <memory>

#include "executor/executor.h"

namespace tandem {

/// Runs a rewritten graph (fusion.h) with explicit forward and backward calls in a fixed order: no autograd graph, no
/// hooks. An operation without a planned backward runs by autograd of its ATen call. What backward reads is kept, or
/// computed again (recompute.h).
std::unique_ptr<Executor> makePlannedExecutor(const ExecutorOptions& options);

}  // namespace tandem

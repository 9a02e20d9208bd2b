#pragma once

#include <memory>

#include "executor/executor.h"

namespace tandem {

/// Runs a rewritten graph (fusion.h) by explicit forward and backward calls in a fixed order, without autograd graph
/// and hooks. An operation without planned backward uses autograd of its ATen call. Values that backward reads are kept
/// or recomputed (checkpointing.h).
std::unique_ptr<Executor> makePlannedExecutor(const ExecutorOptions& options);

}  // namespace tandem

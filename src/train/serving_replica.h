#pragma once

#include <memory>

#include "train/replica.h"

namespace tandem {

/// A replica that computes nothing: in each step it only does the strategy's work for other processes. It has no batch,
/// no loss and no executor. REQUIRES: as makeReplica().
std::unique_ptr<ReplicaSet::Member> makeServingReplica(int index, const ReplicaShared& shared);

}  // namespace tandem

#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/norm/channel_stats.h"

namespace tandem {

/// One replica's handle of the replicas whose batches batch-norm normalises as one (SyncBatchNorm). Collective: all
/// replicas make the same calls in the same order, each on its own thread.
class StatisticsExchange {
 public:
  virtual ~StatisticsExchange() = default;

  /// Adds up 1-D fp64 values, in place, over all replicas. The result is equal to the bit on all. Throws PeerError if
  /// another replica has failed.
  virtual void sum(at::Tensor values) = 0;
};

/// Moments of one or several replicas, and the number of values per channel that they are of.
struct JoinedMoments {
  ChannelMoments moments;
  double values = 0;
};

/// Of the batches of all replicas. Null: of this one's alone, unchanged. A replica's moments cost 2 C + 1 numbers.
JoinedMoments joined(const ChannelMoments& own, double values, StatisticsExchange* exchange);

/// Adds up two [C] fp64 tensors over all replicas, in place, as one message. Null: they stay as they are.
void sumBoth(at::Tensor& first, at::Tensor& second, StatisticsExchange* exchange);

}  // namespace tandem

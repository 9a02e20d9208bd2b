#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/flat_buffers.h"

namespace tandem {

/// The variables that one device of the parameter server holds.
struct ShardPlacement {
  at::Device device;
  int builder;                 ///< replica on whose thread it is allocated
  std::vector<int> owners;     ///< replicas whose threads sum and update it, a contiguous range of elements each
  std::vector<int> variables;  ///< parameters of the replicas' buffers, ascending
  bool throughHost = false;    ///< on the host, of replicas that are not: gradients are copied there to be summed
};

struct VariablePlacementOptions {
  std::string parameterDevice;         ///< "cpu", "device" or a device's name
  std::vector<const Device*> devices;  ///< of the replicas
};

/// Device of each variable: in the order given, each on the device with the fewest bytes so far, the first of equals.
std::vector<int> placeOnLeastLoaded(std::span<const int64_t> bytes, int devices);

/// cpu: one shard on the host, updated by all replicas' threads when they are CPUs; by replica 0's, the server, when
/// their work is ordered by streams.
/// device: variables in creation order (the reverse of the buffers') on the least loaded replica, like
/// tf_cnn_benchmarks. A name: all on that replica. No shard is empty.
std::vector<ShardPlacement> placeShards(const FlatBuffers& buffers, const VariablePlacementOptions& options);

/// Throws UsageError listing the valid names.
void checkParameterDevice(const VariablePlacementOptions& options);

/// Range of owner `index` of `owners` when a segment is cut evenly at cache-line borders.
Slice ownedRange(Slice whole, int owners, int index);

}  // namespace tandem

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "device/flat_buffers.h"

namespace tandem {

/// Values of --parameter-device that name no single device: the host, and all replicas.
inline constexpr std::string_view onHost = "cpu", onEveryReplica = "device";

/// The variables that one device of the parameter server holds.
struct ShardPlacement {
  at::Device device;
  int builder;                 ///< the replica whose thread allocates it
  std::vector<int> owners;     ///< replicas whose threads sum and update it, each a contiguous range of elements
  std::vector<int> variables;  ///< parameters of the replicas' buffers, ascending
  bool throughHost =
      false;  ///< the shard is on the host and the replicas are not: gradients are copied there to be summed
};

struct VariablePlacementOptions {
  std::string parameterDevice;         ///< "cpu", "device" or a device's name
  std::vector<const Device*> devices;  ///< one per replica
};

/// The device of each variable: in the given order, each on the device with the fewest bytes so far, the first of
/// equals.
std::vector<int> placeOnLeastLoaded(std::span<const int64_t> bytes, int devices);

/// Where the variables of the parameter server live; no shard is empty. By `parameterDevice`:
/// - cpu: one shard on the host. CPU replicas update it with all their threads. With streams replica 0's thread does.
/// - device: variables in creation order (the reverse of the buffers') on the least loaded replica, as in
///   tf_cnn_benchmarks.
/// - a device's name: all variables on that replica.
std::vector<ShardPlacement> placeShards(const FlatBuffers& buffers, const VariablePlacementOptions& options);

/// Throws UsageError listing the valid names.
void checkParameterDevice(const VariablePlacementOptions& options);

/// The range of owner `index` if a segment is cut evenly into `owners` ranges at cache-line borders.
Slice ownedRange(Slice whole, int owners, int index);

}  // namespace tandem

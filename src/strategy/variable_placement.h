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

/// The variables of one rank's part of the parameter server that one device there holds.
struct ShardPlacement {
  at::Device device;
  int builder;                 ///< the replica whose thread allocates it
  std::vector<int> owners;     ///< replicas whose threads sum and update it, each a contiguous range of elements
  std::vector<int> variables;  ///< parameters of the replicas' buffers, ascending
  bool throughHost =
      false;       ///< the shard is on the host and the replicas are not: gradients are copied there to be summed
  int server = 0;  ///< the rank that updates the variables; on others they are copies, placed alike
};

struct VariablePlacementOptions {
  std::string parameterDevice;         ///< "cpu", "device" or a device's name
  std::vector<const Device*> devices;  ///< one per replica of a rank; all ranks have as many
  std::vector<int> servers = {0};      ///< the ranks that update variables
};

/// The device of each variable: in the given order, each on the device with the fewest bytes so far, the first of
/// equals.
std::vector<int> placeOnLeastLoaded(std::span<const int64_t> bytes, int devices);

/// Where the variables of the parameter server live; no shard is empty. Of several servers each variable has one: in
/// creation order (the reverse of the buffers') that with the fewest bytes so far, as in tf_cnn_benchmarks. Those of a
/// server lie, by `parameterDevice`,
/// - cpu: in one shard on the host. CPU replicas update it with all their threads. With streams replica 0's thread
/// does.
/// - device: on the rank's replicas, shared out to them as variables to servers.
/// - a device's name: all on that replica.
std::vector<ShardPlacement> placeShards(const FlatBuffers& buffers, const VariablePlacementOptions& options);

/// Throws UsageError listing the valid names.
void checkParameterDevice(const VariablePlacementOptions& options);

/// The range of owner `index` if `all`, a segment or a bucket of `buffers`, is cut evenly into `owners` ranges at
/// cache-line borders. `wholeParameters`: at the next borders of parameters.
Slice ownedRange(const FlatBuffers& buffers, Slice all, int owners, int index, bool wholeParameters);

}  // namespace tandem

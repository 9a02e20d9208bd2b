#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "device/monitor.h"

namespace tandem {

class FlatBuffers;  // device/flat_buffers.h
class World;        // comm/world.h

/// broadcast: from replica 0 to all. gather: the tensor has an equal part for each replica, in their order; each
/// replica has filled its own (partOf()), and gets those of the others. A gather takes any type, bytes too.
enum class Collective { sum, broadcast, gather };

/// Part `index` of `parts` equal ones. REQUIRES: a 1-D tensor whose size is a multiple of `parts`.
at::Tensor partOf(const at::Tensor& gathered, int64_t parts, int64_t index);

/// Identifies a started operation; the same number on every replica. A group counts its operations from 0.
using Ticket = int64_t;

/// One replica's handle of a group that exchanges tensors. Every replica starts the same operations in the same order,
/// with tensors of equal size and type. All methods run on the replica's thread.
class Group {
 public:
  virtual ~Group() = default;

  /// Starts an in-place operation on a 1-D contiguous tensor, which must not be touched until wait(). Never waits.
  virtual Ticket start(at::Tensor tensor, Collective op) = 0;

  /// Does what is possible without waiting; true if every started operation is finished.
  virtual bool progress() = 0;

  /// Returns when the operation has finished here and no replica reads this one's tensor any more. On a GPU: when the
  /// current stream is ordered after that. Throws PeerError if another replica has failed.
  virtual void wait(Ticket ticket) = 0;

  /// Memory for `count` values that are exchanged repeatedly, of a kind that suits the group; content undefined. It
  /// stays allocated until the group is gone too. Undefined if the group has no such kind or was refused it. Every
  /// replica asks for the same.
  virtual at::Tensor memory(int64_t /*count*/, at::ScalarType) { return {}; }

  /// The outcome of memory() in one line; empty: nothing to report.
  virtual std::string memoryText() const { return {}; }
};

/// Collective: every replica's masters become those of replica 0, and its weights are rounded from them.
void broadcastParameters(Group& group, FlatBuffers& buffers);

struct GroupOptions {
  std::vector<const Device*> devices;  ///< one per replica of this process
  Monitor* monitor = nullptr;          ///< the run's; outlives the groups
  World* world = nullptr;              ///< of groups that span its ranks; null: there is this process alone
};

/// A row of the all-reduce catalog.
struct AllReduceEntry {
  std::string_view name, summary;
  bool onCpu, onCuda;
  bool enqueuesOnly;  ///< a step's calls only enqueue device work and never wait on the host, so a CUDA graph can hold
                      ///< them
  bool ownersUpdate;  ///< `replicated` does not sum with the group: the owner of a slice sums and updates it
                      ///< (ShardedUpdate)
  bool spansRanks;    ///< its groups are of the replicas of all ranks, placed by joinedPlace(). Else those of a process
                      ///< are joined by joinRanks(), on CPUs
  /// Bytes and messages that each of n replicas receives for an all-reduce of `bytes`.
  double (*receivedBytes)(double bytes, int n);
  double (*messages)(int n);
  /// One handle per replica.
  std::vector<std::unique_ptr<Group>> (*make)(const GroupOptions&);
};

/// owner, shared, copy, ring, tree, nccl. Builds without CUDA list nccl too, but cannot make it.
std::span<const AllReduceEntry> allReduces();

}  // namespace tandem

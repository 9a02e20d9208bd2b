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

class CollectiveOp;  // comm/local/collective_op.h
class FlatBuffers;   // device/flat_buffers.h
class World;         // comm/world.h
struct SlicedSum;    // comm/local/algorithms.h

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
  World* world = nullptr;              ///< of the run's processes; null: there is this one
};

/// What an all-reduce leaves to the group between ranks, which is Gloo's ring between CPUs.
enum class BetweenRanks {
  whole,   ///< each replica's tensor goes between ranks first; then the process sums
  slices,  ///< the process sums first, then each replica's slices of the sum go
  itself,  ///< nothing: it spans them
};

/// A row of the all-reduce catalog.
struct AllReduceEntry {
  using Groups = std::vector<std::unique_ptr<Group>>;

  std::string_view name, summary;
  bool onCpu = false, onCuda = false;
  bool enqueuesOnly = false;  ///< a step's calls only enqueue device work and never wait on the host, so a CUDA graph
                              ///< can hold them
  bool ownersUpdate = false;  ///< `replicated` does not sum with the group: the owner of a slice sums and updates it
                              ///< (ShardedUpdate)
  /// Bytes and messages that each of n replicas of a process receives for an all-reduce of `bytes`; a mean if replicas
  /// differ. `groups`: of replicas that are near to one another (comm/local/replica_groups.h).
  double (*receivedBytes)(double bytes, int n) = nullptr;
  double (*messages)(int n, int groups) = nullptr;
  /// How threads of a process sum (comm/local/algorithms.h). Null: `makeSpanning` is set.
  bool (*sum)(CollectiveOp&) = nullptr;
  const SlicedSum* halves = nullptr;  ///< of `sum`, between which slices go to other ranks; null: whole tensors go
  /// Makes groups that span ranks by themselves.
  Groups (*makeSpanning)(const GroupOptions&) = nullptr;

  bool spansRanks() const { return makeSpanning != nullptr; }
  BetweenRanks betweenRanks() const;
  /// One handle per replica of this process, of a group of the replicas of all processes, placed by joinedPlace().
  Groups make(const GroupOptions& options) const;
};

/// owner, nccl, shared, copy, ring, tree, halving_doubling, hierarchical. Builds without CUDA list nccl too, but cannot
/// make it.
std::span<const AllReduceEntry> allReduces();

}  // namespace tandem

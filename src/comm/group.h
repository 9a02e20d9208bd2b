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

enum class Collective { sum, broadcast };  ///< broadcast: from replica 0

/// Names a started operation; the same number on every replica.
using Ticket = int64_t;

/// One replica's handle of the group that exchanges tensors. Every replica starts the same operations in the same order
/// with tensors of equal size and type; all methods on the replica's thread.
class Group {
 public:
  virtual ~Group() = default;

  /// Starts an in-place operation on a 1-D contiguous tensor, which must stay untouched until wait(). Never waits.
  virtual Ticket start(at::Tensor tensor, Collective op) = 0;

  /// Does what can be done now without waiting; true when everything started is finished.
  virtual bool progress() = 0;

  /// Returns when the operation has finished here and nobody reads this replica's tensor any more; on a GPU, when
  /// the current stream will see its result. Throws PeerError when another replica has failed.
  virtual void wait(Ticket ticket) = 0;

  /// Memory for `count` values that are exchanged again and again, of a kind that suits the group, with undefined
  /// content; it stays allocated until the group is gone too. Undefined where the group has no kind of its own or was
  /// refused it. Every replica asks for the same.
  virtual at::Tensor memory(int64_t /*count*/, at::ScalarType) { return {}; }

  /// What came of memory(), in one line; empty: nothing to tell.
  virtual std::string memoryText() const { return {}; }
};

struct GroupOptions {
  std::vector<const Device*> devices;  ///< one per replica
  Monitor* monitor = nullptr;          ///< of the run; outlives the groups
};

/// A row of the all-reduce catalog.
struct AllReduceEntry {
  std::string_view name, summary;
  bool onCpu, onCuda;
  bool enqueuesOnly;  ///< a step's calls enqueue device work and never wait on the host, so they can be recorded
  bool ownersUpdate;  ///< replicated does not sum with the group: a slice's owner sums and updates it (ShardedUpdate)
  /// Bytes that each replica receives, and messages, for an all-reduce of `bytes` among n.
  double (*receivedBytes)(double bytes, int n);
  double (*messages)(int n);
  /// One handle per replica.
  std::vector<std::unique_ptr<Group>> (*make)(const GroupOptions&);
};

/// owner, nccl (known in every build; only one with CUDA can make it), shared, copy, ring, tree. The first that runs on
/// a kind of device is the usual one there.
std::span<const AllReduceEntry> allReduces();

}  // namespace tandem

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/world.h"
#include "graph/graph.h"
#include "train/replica_set.h"

namespace tandem {

/// The tensors that a training must keep to go on with the same bits, on the host. Random numbers of images and of
/// their order are functions of the seed and the position, so the number of updates stands for them.
struct TrainingState {
  int64_t step = 0;                     ///< updates that were made
  StateTensors parameters;              ///< by the graph's names, in its shapes, fp32
  std::vector<StateTensors> optimizer;  ///< likewise, for each state of the optimizer
  std::vector<StateTensors> replicas;   ///< Member::ownState() of each replica of all ranks
};

/// Takes the state of all replicas, and gives it back. All methods are collective, on each member's thread.
class StateExchange {
 public:
  /// `world`: of the ranks; null: there is this one. What is given outlives this object.
  StateExchange(const Graph& graph, World* world, size_t replicas)
      : graph_(graph), world_(world), own_(replicas), memory_(replicas) {}

  /// After the call member 0 of rank 0 finds the state in taken(). The training may go on at once: it is a copy.
  /// REQUIRES: Member::settle() was called, and no step since.
  void take(ReplicaSet::Member& member, int64_t step);
  TrainingState& taken() { return taken_; }

  /// Whether no replica before this one has its masters in the same memory. Collective.
  bool isFirstWithItsMemory(ReplicaSet::Member& member);

  /// Sets parameters and the optimizer's state of all replicas, and what each has alone. If the state is of n replicas,
  /// and they are not as many, replica i takes but the running statistics of replica i mod n. The step counter stays.
  /// Throws CheckpointError for a tensor that is missing, or has another shape.
  void give(ReplicaSet::Member& member, const TrainingState& state);

 private:
  void takeShared(ReplicaSet::Member& member);
  void giveShared(FlatBuffers& buffers, const TrainingState& state) const;
  void gatherOwn();

  const Graph& graph_;
  World* const world_;
  std::vector<StateTensors> own_;    // by replica; each writes its own before a barrier
  std::vector<const void*> memory_;  // likewise: where its masters lie
  TrainingState taken_;              // written by member 0
};

/// The tensors as bytes, and back. Throws CheckpointError for bytes that are no tensors; `what` names them.
std::string packed(const StateTensors& tensors);
StateTensors unpacked(std::span<const uint8_t> bytes, const std::string& what);

}  // namespace tandem

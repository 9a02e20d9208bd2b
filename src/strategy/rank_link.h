#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/world.h"
#include "strategy/server_shard.h"

namespace tandem {

/// A range of a shard that a replica owns. Its gradient goes to the shard's server, and its weights come back.
struct ShardMessage {
  ServerShard* shard = nullptr;
  Slice slice;        ///< of the shard's buffers, in one segment
  size_t pieces = 0;  ///< so many of the replica's pieces must be summed before it can be sent
};

/// Cuts pieces into messages of at most `bytes` of gradients, at the borders of pieces. A larger piece is a message of
/// its own. Messages come in the order in which pieces complete them.
std::vector<ShardMessage> planMessages(std::span<const ShardPiece> pieces, int64_t bytes);

/// What a replica exchanges with those of its index on all other ranks, which own the same ranges of shards. The rank
/// that serves a range gets the sums of the ranks that train, adds and updates; these get its weights.
///
/// Gradients travel in one group and weights in another. So weights of the first messages come back while later ones
/// still wait for their gradients. In each group all members start the same operations in the same order. Servers that
/// do not train have groups of their own with the ranks that do.
///
/// All methods run on the replica's thread, but for the constructor.
class RankLink {
 public:
  /// Collective: connects. The context's world and monitor outlive this object.
  RankLink(const StrategyContext& context, int replica);

  /// Collective: all parameters become those of rank 0.
  void broadcastParameters(FlatBuffers& buffers) { tandem::broadcastParameters(*all_.gradients, buffers); }

  /// `pieces`: what the replica owns, in the order in which it sums; on a rank that does not train what it serves of
  /// that. `overflow`: [1] fp32 on the host, which becomes 1 on all ranks if a sum of a step is not finite; undefined:
  /// nobody asks.
  void attach(std::span<const ShardPiece> pieces, int64_t messageBytes, at::Tensor overflow);

  /// REQUIRES: all replicas of this rank have read the overflow of the step before.
  void beginStep();
  /// Does without waiting what `summed` pieces allow: sends, and adds what servers have got. True if all gradients of
  /// the step are added on their servers, and the overflow is known.
  bool send(size_t summed);
  /// Updates the ranges of this rank whose gradients have been added.
  void update();
  /// Fetches the weights of the messages that are updated, or of `all`, once in a step, without waiting. True if all
  /// are here, and nobody reads this rank's any more.
  bool fetch(bool all);
  /// Collective: fetches the masters of all ranges.
  void fetchMasters();
  /// Collective: fetches `count` states of the optimizer of all ranges. `keeps`: into this rank's shards, which have
  /// memory for them; a rank that keeps nothing takes part.
  void fetchStates(int count, bool keeps);

  size_t messages() const { return messages_.size(); }

 private:
  /// The groups in which ranges of a server travel. `root`: its place there.
  struct Channel {
    std::unique_ptr<RankGroup> gradients, weights;
    int root = 0, members = 0;
  };
  Channel connect(const StrategyContext& context, const std::string& name, const std::vector<int>& members) const;
  Channel& channelOf(const ShardMessage& message);
  int rootOf(const ShardMessage& message);
  void addParts(size_t message);
  /// True if the overflow of all ranks is known.
  bool joinOverflow();

  const int replica_, workers_;
  Channel all_;                   // of all ranks
  std::map<int, Channel> apart_;  // by server, where it shares a group with some ranks only
  std::vector<ShardMessage> messages_;
  std::vector<at::Tensor> parts_;  // per message that this rank serves: [members * n], the sums of all members
  at::Tensor overflow_;
  std::vector<Ticket> sent_;                      // of this step's messages
  std::optional<Ticket> asked_;                   // whether a sum has overflowed
  size_t added_ = 0, updated_ = 0, fetched_ = 0;  // of this step's messages
};

}  // namespace tandem

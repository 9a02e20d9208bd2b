#include "strategy/rank_link.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/text.h"
#include "comm/local/local_reduce.h"
#include "kernels/tensor/non_finite.h"
#include "strategy/server_traffic.h"

namespace tandem {

// Pieces of a segment follow one another, so a message is one range. It may hold the padding between them, which is
// zero.
std::vector<ShardMessage> planMessages(std::span<const ShardPiece> pieces, int64_t bytes) {
  std::vector<ShardMessage> messages;
  std::map<std::pair<const ServerShard*, int>, size_t> open;  // the last message of each segment of a shard
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto& [shard, piece] = pieces[i];
    const auto [last, isFirst] = open.try_emplace({shard, piece.inShard.segment}, messages.size());
    const Slice before = isFirst ? piece.inShard : messages[last->second].slice;
    const Slice joined{before.segment, before.begin, piece.inShard.end};
    if (!isFirst && shard->buffers().gradientBytes(joined) <= bytes) {
      messages[last->second].slice = joined;
    } else {
      last->second = messages.size();
      messages.push_back({shard, piece.inShard});
    }
    messages[last->second].pieces = i + 1;
  }
  std::ranges::sort(messages, {}, &ShardMessage::pieces);
  return messages;
}

RankLink::RankLink(const StrategyContext& context, int replica)
    : replica_(replica), workers_(workersOf(context)), all_(connect(context, "", {})) {
  if (context.servers.alone < 2) return;  // one server has all ranks in its group
  for (const int server : serversOf(context)) {
    if (servesAlone(context) && server != context.world->place().rank) continue;
    std::vector<int> members(static_cast<size_t>(workers_));
    std::iota(members.begin(), members.end(), 0);
    members.push_back(server);
    apart_.emplace(server, connect(context, concat(" with server ", server), members));
  }
}

RankLink::Channel RankLink::connect(const StrategyContext& context, const std::string& name,
                                    const std::vector<int>& members) const {
  World& world = *context.world;
  Monitor& monitor = *context.monitor;
  const int all = world.place().size, some = static_cast<int>(members.size());
  return {.gradients = world.group(concat("gradients of replica ", replica_, name), monitor, members),
          .weights = world.group(concat("weights of replica ", replica_, name), monitor, members),
          .root = some - 1,
          .members = some == 0 ? all : some};
}

RankLink::Channel& RankLink::channelOf(const ShardMessage& message) {
  const auto own = apart_.find(message.shard->plan().server);
  return own == apart_.end() ? all_ : own->second;
}

int RankLink::rootOf(const ShardMessage& message) {
  return apart_.empty() ? message.shard->plan().server : channelOf(message).root;
}

void RankLink::attach(std::span<const ShardPiece> pieces, int64_t messageBytes, at::Tensor overflow) {
  messages_ = planMessages(pieces, messageBytes);
  overflow_ = std::move(overflow);
  parts_.clear();
  for (const ShardMessage& message : messages_) {
    const int64_t count = message.shard->serves() ? channelOf(message).members * message.slice.count() : 0;
    parts_.push_back(at::empty({count}, message.shard->buffers().gradient(message.slice).options()));
  }
}

void RankLink::beginStep() {
  sent_.clear(), asked_.reset();
  added_ = updated_ = fetched_ = 0;
  if (overflow_.defined()) overflow_.zero_();
}

bool RankLink::send(size_t summed) {
  while (sent_.size() < messages_.size() && messages_[sent_.size()].pieces <= summed) {
    const size_t next = sent_.size();
    const ShardMessage& message = messages_[next];
    const at::Tensor own = message.shard->buffers().gradient(message.slice);
    sent_.push_back(channelOf(message).gradients->gatherTo(rootOf(message), own, parts_[next]));
  }
  for (; added_ < sent_.size(); ++added_) {
    if (!channelOf(messages_[added_]).gradients->finished(sent_[added_])) break;
    addParts(added_);
  }
  return added_ == messages_.size() && joinOverflow();
}

// What a server that does not train has sent itself is no gradient.
void RankLink::addParts(size_t message) {
  const ShardMessage& of = messages_[message];
  if (!of.shard->serves()) return;
  std::vector<at::Tensor> parts;
  for (int rank = 0; rank < workers_; ++rank) {
    parts.push_back(partOf(parts_[message], channelOf(of).members, rank));
  }
  const at::Tensor sum = of.shard->buffers().gradient(of.slice);
  sumFromPeers(sum, std::move(parts));
  if (overflow_.defined()) markNonFinite(sum, overflow_);
}

// Each server knows of its own ranges only. A flag is 0 or 1, and so is what becomes of their sum.
bool RankLink::joinOverflow() {
  if (!overflow_.defined()) return true;
  if (!asked_) asked_ = all_.gradients->start(overflow_, Collective::sum);
  if (!all_.gradients->finished(*asked_)) return false;
  overflow_.clamp_max_(1);
  return true;
}

void RankLink::update() {
  for (; updated_ < added_; ++updated_) {
    const ShardMessage& message = messages_[updated_];
    if (message.shard->serves()) message.shard->update(replica_, message.slice);
  }
}

bool RankLink::fetch(bool all) {
  for (const size_t end = all ? messages_.size() : updated_; fetched_ < end; ++fetched_) {
    const ShardMessage& message = messages_[fetched_];
    channelOf(message).weights->broadcastFrom(rootOf(message), message.shard->buffers().weights(message.slice));
  }
  bool here = all_.weights->progress();
  for (const auto& [server, channel] : apart_) here = channel.weights->progress() && here;
  return here && fetched_ == messages_.size();
}

void RankLink::fetchMasters() {
  for (const ShardMessage& message : messages_) {
    RankGroup& weights = *channelOf(message).weights;
    weights.wait(weights.broadcastFrom(rootOf(message), message.shard->buffers().master(message.slice)));
  }
}

void RankLink::fetchStates(int count, bool keeps) {
  for (const ShardMessage& message : messages_) {
    RankGroup& weights = *channelOf(message).weights;
    for (int which = 0; which < count; ++which) {
      const bool here = keeps || message.shard->serves();
      const at::Tensor state = here ? message.shard->state(which, message.slice)
                                    : at::empty_like(message.shard->buffers().master(message.slice));
      weights.wait(weights.broadcastFrom(rootOf(message), state));
    }
  }
}

}  // namespace tandem

#include "strategy/rank_link.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "comm/local/local_reduce.h"
#include "kernels/tensor/non_finite.h"

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

RankLink::RankLink(World& world, Monitor& monitor, int replica)
    : world_(world),
      replica_(replica),
      gradients_(world.group(concat("gradients of replica ", replica), monitor)),
      weights_(world.group(concat("weights of replica ", replica), monitor)) {}

void RankLink::attach(std::span<const ShardPiece> pieces, int64_t messageBytes, at::Tensor overflow) {
  messages_ = planMessages(pieces, messageBytes);
  overflow_ = std::move(overflow);
  parts_.clear();
  for (const ShardMessage& message : messages_) {
    const int64_t count = message.shard->serves() ? ranks() * message.slice.count() : 0;
    parts_.push_back(at::empty({count}, message.shard->buffers().gradient(message.slice).options()));
  }
}

void RankLink::beginStep() {
  sent_.clear(), asked_.reset();
  added_ = updated_ = fetched_ = 0;
}

bool RankLink::send(size_t summed) {
  for (; sent_.size() < messages_.size() && messages_[sent_.size()].pieces <= summed;) {
    const size_t next = sent_.size();
    const ShardMessage& message = messages_[next];
    const at::Tensor own = message.shard->buffers().gradient(message.slice);
    sent_.push_back(gradients_->gatherTo(message.shard->plan().server, own, parts_[next]));
  }
  for (; added_ < sent_.size() && gradients_->finished(sent_[added_]); ++added_) addParts(added_);
  return added_ == messages_.size() && joinOverflow();
}

void RankLink::addParts(size_t message) {
  const ShardMessage& of = messages_[message];
  if (!of.shard->serves()) return;
  std::vector<at::Tensor> parts;
  for (int rank = 0; rank < ranks(); ++rank) parts.push_back(partOf(parts_[message], ranks(), rank));
  const at::Tensor sum = of.shard->buffers().gradient(of.slice);
  sumFromPeers(sum, std::move(parts));
  if (overflow_.defined()) markNonFinite(sum, overflow_);
}

// Each server knows of its own ranges only. A flag is 0 or 1, and so is what becomes of their sum.
bool RankLink::joinOverflow() {
  if (!overflow_.defined() || messages_.empty()) return true;
  if (!asked_) asked_ = gradients_->start(overflow_, Collective::sum);
  if (!gradients_->finished(*asked_)) return false;
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
    weights_->broadcastFrom(message.shard->plan().server, message.shard->buffers().weights(message.slice));
  }
  return weights_->progress() && fetched_ == messages_.size();
}

void RankLink::fetchMasters() {
  for (const ShardMessage& message : messages_) {
    weights_->wait(
        weights_->broadcastFrom(message.shard->plan().server, message.shard->buffers().master(message.slice)));
  }
}

}  // namespace tandem

#include "strategy/rank_link.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "strategy/synthetic_training.h"

namespace tandem {
namespace {

// Of variables of 30, 10, 1000, 6 and 77 values, each in so many bytes: 120, 40, 4000, 24, 308.
class Messages : public testing::Test {
 protected:
  Messages() {
    context_.devices = pointersTo(devices_);
    context_.precision = &find(precisions(), "fp32", "precision");
    context_.format = at::MemoryFormat::ChannelsLast;
    context_.makeOptimizer = [](FlatBuffers& buffers) { return makeOptimizer(buffers, {}); };
  }

  std::vector<ShardMessage> of(const std::vector<std::vector<int>>& shards, int64_t bytes) {
    shards_.clear();
    pieces_.clear();
    for (const std::vector<int>& variables : shards) {
      const ShardPlacement placement{at::kCPU, 0, {0}, variables};
      shards_.push_back(std::make_unique<ServerShard>(placement, buffers_, context_, ServerShard::Role::server));
      for (const Piece& piece : shards_.back()->pieces(0, buffers_)) pieces_.push_back({shards_.back().get(), piece});
    }
    std::ranges::stable_sort(pieces_, {}, [](const ShardPiece& each) { return each.piece.variable; });
    return planMessages(pieces_, bytes);
  }

  /// "0:120@1 1:40@2": the shard, the bytes and the pieces of each message.
  std::string text(const std::vector<std::vector<int>>& shards, int64_t bytes) {
    std::vector<std::string> texts;
    for (const ShardMessage& message : of(shards, bytes)) {
      const auto shard = std::ranges::find(shards_, message.shard, &std::unique_ptr<ServerShard>::get);
      texts.push_back(concat(shard - shards_.begin(), ':', message.shard->buffers().gradientBytes(message.slice), '@',
                             message.pieces));
    }
    return join(texts, " ");
  }

  std::vector<Device> devices_ = cpuDevices(1);
  StrategyContext context_;
  FlatBuffers buffers_ = syntheticBuffers(SyntheticRun{});
  std::vector<std::unique_ptr<ServerShard>> shards_;
  std::vector<ShardPiece> pieces_;
};

// A variable begins at a cache line, so 120 and 40 bytes are 168 together.
TEST_F(Messages, HoldSeveralPiecesAndNoneIsCut) {
  EXPECT_EQ(text({{0, 1, 2, 3, 4}}, 1), "0:120@1 0:40@2 0:4000@3 0:24@4 0:308@5");
  EXPECT_EQ(text({{0, 1, 2, 3, 4}}, 168), "0:168@2 0:4000@3 0:24@4 0:308@5");
  EXPECT_EQ(text({{0, 1, 2, 3, 4}}, 500), "0:168@2 0:4000@3 0:372@5");
  EXPECT_EQ(text({{0, 1, 2, 3, 4}}, 1 << 20), "0:4596@5");
}

TEST_F(Messages, OfSeveralShardsComeInTheOrderInWhichTheyAreComplete) {
  EXPECT_EQ(text({{0, 3}, {1, 2, 4}}, 1 << 20), "0:152@4 1:4404@5");
  EXPECT_EQ(text({{0, 1, 4}, {2, 3}}, 200), "0:168@2 1:4000@3 1:24@4 0:308@5");
}

TEST_F(Messages, CoverEachPieceOnce) {
  for (const int64_t bytes : {1, 200, 500, 5000}) {
    const auto messages = of({{0, 3}, {1, 2, 4}}, bytes);
    for (const auto& [shard, piece] : pieces_) {
      const auto holds = [&](const ShardMessage& message) {
        return message.shard == shard && message.slice.segment == piece.inShard.segment &&
               message.slice.begin <= piece.inShard.begin && piece.inShard.end <= message.slice.end;
      };
      EXPECT_EQ(std::ranges::count_if(messages, holds), 1) << bytes;
    }
  }
}

}  // namespace
}  // namespace tandem

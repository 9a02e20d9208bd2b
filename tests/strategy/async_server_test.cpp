// The asynchronous server, driven by hand: pulls and pushes of its workers in a given order.
#include "strategy/async_server.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "strategy/oracles.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

constexpr double slope = 0.3;

/// A server of all synthetic variables with its workers' copies, and what it must hold, written out in double.
class ByHand {
 public:
  ByHand(int workers, int64_t bound, const std::string& precision = "fp32", OptimizerOptions optimizer = {})
      : run_{.precision = precision, .ranks = workers, .slope = slope, .optimizer = optimizer},
        buffers_(initial(precision)),
        rounds_(static_cast<size_t>(workers), 0),
        seen_(static_cast<size_t>(workers)) {
    context_.devices = pointersTo(devices_);
    context_.monitor = &monitor_;
    context_.servers = {.maxStaleness = bound, .timeoutSeconds = 0.2};
    context_.precision = &find(precisions(), precision, "precision");
    context_.format = at::MemoryFormat::ChannelsLast;
    context_.makeOptimizer = [optimizer](FlatBuffers& buffers) { return makeOptimizer(buffers, optimizer); };
    const std::vector<ShardPlacement> placements{{at::kCPU, 0, {0}, {0, 2}}, {at::kCPU, 0, {0}, {1, 3, 4}}};
    server_ = std::make_unique<AsyncServer>(placements, buffers_, context_, workers);
    for (int worker = 0; worker < workers; ++worker) {
      for (const ShardPlacement& placement : placements) {
        copies_[worker].push_back(
            std::make_unique<ServerShard>(placement, buffers_, context_, ServerShard::Role::copy));
      }
    }
    for (int i = 0; i < buffers_.parameters(); ++i) books_.push_back({initialOf(i, count(i)).to(at::kDouble)});
  }

  AsyncServer& server() { return *server_; }
  Monitor& monitor() { return monitor_; }

  /// The next of the worker's pulls and pushes, which take turns.
  void turn(int worker) {
    const auto one = static_cast<size_t>(worker);
    if (seen_[one].empty()) {
      ASSERT_TRUE(server_->mayPull(worker));
      server_->pull(worker, copies_[worker]);
      for (const Textbook& book : books_) seen_[one].push_back(book.w);
      expectWeights(worker);
      return;
    }
    ASSERT_TRUE(server_->mayPush(worker));
    makeGradients(worker, rounds_[one]);
    server_->push(worker, copies_[worker], lossScale, /*overflow=*/false);
    ++updates_;
    for (int i = 0; i < buffers_.parameters(); ++i) {
      const at::Tensor& seen = seen_[one][static_cast<size_t>(i)];
      books_[static_cast<size_t>(i)].step(meanGradientAt(run_, seen, i, rounds_[one], {worker, worker + 1}),
                                          run_.optimizer, updates_);
    }
    seen_[one].clear();
    ++rounds_[one];
  }

  bool mayTurn(int worker) const {
    return seen_[static_cast<size_t>(worker)].empty() ? server_->mayPull(worker) : server_->mayPush(worker);
  }

  void overflow(int worker) {
    server_->push(worker, copies_[worker], lossScale, /*overflow=*/true);
    seen_[static_cast<size_t>(worker)].clear();
    ++rounds_[static_cast<size_t>(worker)];
  }

  void expectMasters(int worker) {
    server_->pullMasters(worker, copies_[worker]);
    expectEqual(worker, &FlatBuffers::master);
  }

 private:
  static constexpr double lossScale = 8;

  static FlatBuffers initial(const std::string& precision) {
    FlatBuffers buffers = syntheticBuffers(SyntheticRun{.precision = precision});
    for (int i = 0; i < buffers.parameters(); ++i) buffers.master(buffers.slice(i)).copy_(initialOf(i, count(i)));
    buffers.refreshWeights();
    return buffers;
  }
  static int64_t count(int parameter) { return c10::multiply_integers(shapeOf(parameter)); }

  void makeGradients(int worker, int64_t round) {
    for (const auto& copy : copies_[worker]) {
      for (int i = 0; i < copy->buffers().parameters(); ++i) {
        const int parameter = copy->plan().variables[static_cast<size_t>(i)];
        const Slice slice = copy->buffers().slice(i);
        const at::Tensor weights = copy->buffers().weights(slice).to(at::kFloat);
        const at::Tensor gradient = gradientOf(worker, parameter, round, slice.count()) + weights * slope;
        copy->buffers().gradient(slice).copy_(gradient * lossScale);
      }
    }
  }

  void expectWeights(int worker) { expectEqual(worker, &FlatBuffers::weights); }
  void expectEqual(int worker, at::Tensor (FlatBuffers::*values)(Slice) const) {
    for (const auto& copy : copies_[worker]) {
      for (int i = 0; i < copy->buffers().parameters(); ++i) {
        const auto parameter = static_cast<size_t>(copy->plan().variables[static_cast<size_t>(i)]);
        const at::Tensor actual = (copy->buffers().*values)(copy->buffers().slice(i));
        EXPECT_LE(relativeDifference(actual, books_[parameter].w), 10 * roundingBound(run_))
            << "worker " << worker << ", parameter " << parameter << " after " << updates_ << " updates";
      }
    }
  }

  const SyntheticRun run_;
  const std::vector<Device> devices_ = cpuDevices(1);
  Monitor monitor_{true};
  StrategyContext context_;
  FlatBuffers buffers_;
  std::unique_ptr<AsyncServer> server_;
  std::map<int, std::vector<std::unique_ptr<ServerShard>>> copies_;
  std::vector<Textbook> books_;
  int64_t updates_ = 0;
  std::vector<int64_t> rounds_;
  std::vector<std::vector<at::Tensor>> seen_;  // per worker and parameter: what it pulled last; empty: it pushed since
};

TEST(AsyncServer, MakesTheUpdatesOfAGivenOrder) {
  // Worker 0 makes two rounds while worker 1 computes its first, whose gradient is then of weights two updates old.
  ByHand two(2, 2);
  for (const int worker : {1, 0, 0, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0}) two.turn(worker);
  EXPECT_EQ(two.server().staleness().updates, 7);
  EXPECT_EQ(two.server().staleness().most, 2);
  ByHand three(3, 1);
  for (const int worker : {0, 1, 2, 1, 0, 2, 2, 0, 1, 0, 2, 1}) three.turn(worker);
  for (const int worker : {0, 1, 2}) three.expectMasters(worker);
}

TEST(AsyncServer, MakesTheUpdatesOfAnyOrderThatItAllows) {
  std::mt19937 random(11);
  for (const OptimizerEntry& rule : optimizers()) {
    for (const char* precision : {"fp32", "bf16"}) {
      ByHand some(3, 2, precision, {.rule = &rule, .learningRate = 0.01, .weightDecay = 0.01, .epsilon = 0.1});
      for (int turn = 0; turn < 40; ++turn) {
        const auto worker = static_cast<int>(random() % 3);
        if (some.mayTurn(worker)) some.turn(worker);
      }
    }
  }
}

TEST(AsyncServer, LeavesOutWhatOverflowed) {
  ByHand two(2, 1);
  for (const int worker : {0, 1}) two.turn(worker);
  two.overflow(0);
  for (const int worker : {1, 0, 0, 1, 1}) two.turn(worker);
  for (const int worker : {0, 1}) two.expectMasters(worker);
  EXPECT_EQ(two.server().staleness().updates, 3);
}

TEST(AsyncServer, NamesTheWorkerThatDoesNotCome) {
  ByHand two(2, 1);
  for (const int worker : {0, 0, 0}) two.turn(worker);
  EXPECT_FALSE(two.mayTurn(0)) << "worker 1 has not pulled for its first round";
  const std::string text = textOfFailure<PeerError>([&] { two.overflow(0); });
  EXPECT_EQ(text,
            "rank 1 did not push its update of step 0 within 200 ms; rank 0, at step 1, may be at most 1 ahead "
            "(--max-staleness)");
}

TEST(AsyncServer, AnAbortAndAnEndFreeThoseThatWait) {
  ByHand two(2, 0);
  two.turn(0);
  two.monitor().abort("replica 3 failed: why");
  EXPECT_EQ(textOfFailure<PeerError>([&] { two.overflow(0); }), "replica 3 failed: why");
  ByHand other(2, 0);
  other.turn(0);
  other.server().close();
  EXPECT_EQ(textOfFailure<PeerError>([&] { other.overflow(0); }), "the parameter server has ended");
}

}  // namespace
}  // namespace tandem

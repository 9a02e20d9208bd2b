#include <gtest/gtest.h>

#include "engine/equivalence_team.h"
#include "strategy/replicated.h"

namespace tandem::equivalence {
namespace {

/// An optimizer with another one's update changed.
class ChangedOptimizer final : public Optimizer {
 public:
  using Update = std::function<void(Optimizer&, Slice, int64_t step, double scale)>;
  ChangedOptimizer(Optimizer& inner, Update update) : inner_(inner), update_(std::move(update)) {}
  void allocateState() override { inner_.allocateState(); }
  void update(Slice slice, int64_t step, double scale) override { update_(inner_, slice, step, scale); }

 private:
  Optimizer& inner_;
  Update update_;
};

/// The right strategy; the seeded bugs derive from it.
class Mutant : public Strategy {
 public:
  explicit Mutant(const StrategyContext& context) : inner_(makeReplicated(context)) {}
  void attach(Replica& replica) override { inner_->attach(replica); }
  void beginStep(Replica& replica) override { inner_->beginStep(replica); }
  void gradientReady(Replica& replica, Slice slice) override { inner_->gradientReady(replica, slice); }
  void endStep(Replica& replica, int64_t step) override { inner_->endStep(replica, step); }
  void finish(Replica& replica) override { inner_->finish(replica); }
  StrategyTraffic traffic() const override { return inner_->traffic(); }

 protected:
  void endStepWith(Replica& replica, int64_t step, const ChangedOptimizer::Update& update) {
    ChangedOptimizer changed(replica.optimizer, update);
    Replica other{replica.index, replica.device, replica.buffers, changed};
    inner_->endStep(other, step);
  }
  std::unique_ptr<Strategy> inner_;
};

bool isFirstBucket(Slice bucket) { return bucket.segment == 0 && bucket.begin == 0; }

class BucketNotUpdated final : public Mutant {
 public:
  using Mutant::Mutant;
  void endStep(Replica& replica, int64_t step) override {
    endStepWith(replica, step, [](Optimizer& optimizer, Slice bucket, int64_t at, double scale) {
      if (!isFirstBucket(bucket)) optimizer.update(bucket, at, scale);
    });
  }
};

class BucketNotExchanged final : public Mutant {
 public:
  explicit BucketNotExchanged(const StrategyContext& context) : Mutant(context), own_(context.devices.size()) {}
  void gradientReady(Replica& replica, Slice slice) override {
    if (isFirstBucket(slice)) own_[replica.index] = replica.buffers.gradient(slice).clone();
    inner_->gradientReady(replica, slice);
  }
  void endStep(Replica& replica, int64_t step) override {
    endStepWith(replica, step, [&](Optimizer& optimizer, Slice bucket, int64_t at, double scale) {
      const at::Tensor& own = own_[replica.index];
      if (isFirstBucket(bucket)) {
        replica.buffers.gradient({bucket.segment, 0, own.numel()}).copy_(own * (1 / scale));
      }
      optimizer.update(bucket, at, scale);
    });
  }

 private:
  std::vector<at::Tensor> own_;
};

class WrongDivisor final : public Mutant {
 public:
  explicit WrongDivisor(const StrategyContext& context)
      : Mutant(context), replicas_(static_cast<double>(context.devices.size())) {}
  void endStep(Replica& replica, int64_t step) override {
    endStepWith(replica, step, [this](Optimizer& optimizer, Slice bucket, int64_t at, double scale) {
      optimizer.update(bucket, at, scale * replicas_);
    });
  }

 private:
  double replicas_;
};

class StaleWeight final : public Mutant {
 public:
  using Mutant::Mutant;
  void endStep(Replica& replica, int64_t step) override {
    const Slice slice = replica.buffers.slice(0);
    const at::Tensor before = replica.buffers.master(slice).clone();
    inner_->endStep(replica, step);
    if (replica.index != 1 || step != 2) return;
    replica.buffers.master(slice).copy_(before);
    replica.buffers.refreshWeights();
  }
};

template <class Bug>
std::unique_ptr<Strategy> make(const StrategyContext& context) {
  return std::make_unique<Bug>(context);
}

constexpr StrategyEntry mutants[] = {
    {"bucket_not_updated", "", Exchange::synchronous, make<BucketNotUpdated>},
    {"bucket_not_exchanged", "", Exchange::synchronous, make<BucketNotExchanged>},
    {"wrong_divisor", "", Exchange::synchronous, make<WrongDivisor>},
    {"stale_weight", "", Exchange::synchronous, make<StaleWeight>},
};
constexpr StrategyEntry withoutBug{"without_bug", "", Exchange::synchronous, make<Mutant>};

bool passesTheSuite(const StrategyEntry& strategy, const std::string& precision, int replicas) {
  const Graph net = plainNet();
  Case c{.graph = &net, .strategy = &withoutBug, .precision = precision};
  const Trained oracle = train(c);
  c.strategy = &strategy;
  c.replicas = replicas;
  for (const Weights& weights : train(c).replicas) {
    if (!equal(difference(weights, oracle.replicas[0], oracle.initial), precision)) return false;
  }
  return true;
}

class SeededBug : public testing::TestWithParam<StrategyEntry> {};

TEST_P(SeededBug, IsCaught) {
  for (const Precision& precision : precisions()) {
    for (const int replicas : {2, 3, 4}) {
      EXPECT_FALSE(passesTheSuite(GetParam(), std::string(precision.name), replicas))
          << GetParam().name << ' ' << precision.name << ' ' << replicas;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Equivalence, SeededBug, testing::ValuesIn(mutants),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(WithoutBug, TheSameStrategyPasses) {
  for (const Precision& precision : precisions()) {
    EXPECT_TRUE(passesTheSuite(withoutBug, std::string(precision.name), 3)) << precision.name;
  }
}

}  // namespace
}  // namespace tandem::equivalence

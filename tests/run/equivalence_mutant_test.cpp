#include <gtest/gtest.h>

#include "run/equivalence_team.h"
#include "strategy/builtin_strategies.h"
#include "support/precisions.h"

namespace tandem::equivalence {
namespace {

/// What a seeded bug changes of an optimizer.
struct Changes {
  double scale = 1;  ///< of gradients, beside the right one
  std::function<void(Slice)> update = nullptr;
};

/// An optimizer with another one's steps changed.
class ChangedOptimizer final : public Optimizer {
 public:
  ChangedOptimizer(FlatBuffers& buffers, Optimizer& inner, Changes changes)
      : Optimizer(buffers, {}), inner_(inner), changes_(std::move(changes)) {}

 private:
  void begin(int64_t step, double scale) override { inner_.beginStep(step, scale * changes_.scale); }
  void apply(const Part& part) override { changes_.update(part.slice); }
  Optimizer& inner_;
  Changes changes_;
};

/// The right strategy; the seeded bugs derive from it and change what becomes of an update, whoever makes it and when.
class Mutant : public Strategy {
 public:
  explicit Mutant(const StrategyContext& context) : step_(context.devices.size()), inner_(makeReplicated(context)) {}
  void attach(Replica& replica) override { inner_->attach(replica); }
  void beginStep(Replica& replica, int64_t step) override {
    step_[replica.index] = step;
    withChangedUpdate(replica, [&](Replica& changed) { inner_->beginStep(changed, step); });
  }
  void gradientReady(Replica& replica, Slice slice) override {
    withChangedUpdate(replica, [&](Replica& changed) { inner_->gradientReady(changed, slice); });
  }
  void endStep(Replica& replica) override {
    withChangedUpdate(replica, [&](Replica& changed) { inner_->endStep(changed); });
  }
  void finish(Replica& replica) override { inner_->finish(replica); }
  StrategyTraffic traffic() const override { return inner_->traffic(); }

 protected:
  virtual double scale() const { return 1; }
  virtual void update(Replica& replica, Slice slice) { replica.optimizer.update(slice); }
  int64_t stepOf(const Replica& replica) const { return step_[replica.index]; }

 private:
  void withChangedUpdate(Replica& replica, const std::function<void(Replica&)>& call) {
    ChangedOptimizer changed(replica.buffers, replica.optimizer,
                             {scale(), [&](Slice slice) { update(replica, slice); }});
    Replica other{replica.index, replica.device, replica.buffers, changed, replica.lossScale};
    call(other);
  }
  std::vector<int64_t> step_;  // of each replica
  std::unique_ptr<Strategy> inner_;
};

bool startsTheFirstBucket(Slice slice) { return slice.segment == 0 && slice.begin == 0; }

class BucketNotUpdated final : public Mutant {
  using Mutant::Mutant;
  void update(Replica& replica, Slice slice) override {
    if (!startsTheFirstBucket(slice)) Mutant::update(replica, slice);
  }
};

class BucketNotExchanged final : public Mutant {
 public:
  explicit BucketNotExchanged(const StrategyContext& context) : Mutant(context), own_(context.devices.size()) {}
  void gradientReady(Replica& replica, Slice slice) override {
    if (startsTheFirstBucket(slice)) own_[replica.index] = replica.buffers.gradient(slice).clone();
    Mutant::gradientReady(replica, slice);
  }

 private:
  void update(Replica& replica, Slice slice) override {
    const at::Tensor& own = own_[replica.index];
    if (startsTheFirstBucket(slice)) {
      const int64_t count = std::min(own.numel(), slice.count());
      const auto replicas = static_cast<double>(own_.size());  // by whose number the update divides
      replica.buffers.gradient({slice.segment, 0, count}).copy_(own.narrow(0, 0, count) * replicas);
    }
    Mutant::update(replica, slice);
  }
  std::vector<at::Tensor> own_;
};

class WrongDivisor final : public Mutant {
 public:
  explicit WrongDivisor(const StrategyContext& context)
      : Mutant(context), replicas_(static_cast<double>(context.devices.size())) {}

 private:
  double scale() const override { return replicas_; }
  double replicas_;
};

/// Parameter 0 misses one update: on replica 1, or everywhere where replicas share it.
class StaleWeight final : public Mutant {
 public:
  explicit StaleWeight(const StrategyContext& context) : Mutant(context), shared_(context.allReduce.ownersUpdate()) {}

 private:
  void update(Replica& replica, Slice slice) override {
    const bool ofFirst = slice.segment == 0 && slice.begin < replica.buffers.slice(0).end;
    const bool missed = ofFirst && stepOf(replica) == 2 && (shared_ || replica.index == 1);
    if (!missed) Mutant::update(replica, slice);
  }
  bool shared_;
};

template <class Bug>
std::unique_ptr<Strategy> make(const StrategyContext& context) {
  return std::make_unique<Bug>(context);
}

constexpr StrategyEntry mutants[] = {
    {.name = "bucket_not_updated",
     .summary = "",
     .exchange = Exchange::synchronous,
     .enqueuesOnly = nullptr,
     .make = make<BucketNotUpdated>},
    {.name = "bucket_not_exchanged",
     .summary = "",
     .exchange = Exchange::synchronous,
     .enqueuesOnly = nullptr,
     .make = make<BucketNotExchanged>},
    {.name = "wrong_divisor",
     .summary = "",
     .exchange = Exchange::synchronous,
     .enqueuesOnly = nullptr,
     .make = make<WrongDivisor>},
    {.name = "stale_weight",
     .summary = "",
     .exchange = Exchange::synchronous,
     .enqueuesOnly = nullptr,
     .make = make<StaleWeight>},
};
constexpr StrategyEntry withoutBug{.name = "without_bug",
                                   .summary = "",
                                   .exchange = Exchange::synchronous,
                                   .enqueuesOnly = nullptr,
                                   .make = make<Mutant>};

bool passesTheSuite(const StrategyEntry& strategy, const Case& like) {
  Case c = like;
  c.strategy = &withoutBug, c.replicas = 1;
  const Trained oracle = train(c);
  c.strategy = &strategy, c.replicas = like.replicas;
  for (const Weights& weights : train(c).replicas) {
    if (!equal(difference(weights, oracle.replicas[0], oracle.initial), c)) return false;
  }
  return true;
}

/// Who sums and updates: everybody, and owners.
std::vector<Case> exchanges(const Graph& net) {
  std::vector<Case> cases;
  for (const char* allReduce : {"shared", "owner"}) {
    for (const Precision& precision : precisionsOnCpu()) {
      for (const int replicas : {2, 3, 4}) {
        cases.push_back({.graph = &net, .allReduce = allReduce, .precision = std::string(precision.name)});
        cases.back().replicas = replicas;
      }
    }
  }
  return cases;
}

class SeededBug : public testing::TestWithParam<StrategyEntry> {};

TEST_P(SeededBug, IsCaught) {
  const Graph net = plainNet();
  for (const Case& c : exchanges(net)) {
    EXPECT_FALSE(passesTheSuite(GetParam(), c))
        << GetParam().name << ' ' << c.allReduce << ' ' << c.precision << ' ' << c.replicas;
  }
}

INSTANTIATE_TEST_SUITE_P(Equivalence, SeededBug, testing::ValuesIn(mutants),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(WithoutBug, TheSameStrategyPasses) {
  const Graph net = plainNet();
  for (const Case& c : exchanges(net)) EXPECT_TRUE(passesTheSuite(withoutBug, c)) << c.allReduce << ' ' << c.precision;
}

}  // namespace
}  // namespace tandem::equivalence

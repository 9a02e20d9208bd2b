#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "base/catalog.h"
#include "base/statistics.h"
#include "base/text.h"
#include "measure/profile/attribution.h"
#include "observe/profiler.h"
#include "run/measured_run.h"
#include "run/plan/replica_set_options.h"
#include "run/plan/select_kernels.h"

namespace tandem::attribution {

/// A delay that can be put into a run of resnet20 on two replicas, by wrapping what ReplicaSetOptions takes.
enum class Place { loader, exchange, compute };

struct Injection {
  Place place;
  Nanos delay;
};

constexpr int slowReplica = 1;  // whose compute is slow
inline Injection injected;
inline thread_local bool active = false;
inline thread_local int replica = 0;

/// A loader and an exchange wait; who computes keeps its core.
inline void delayIn(Place place) {
  if (!active || injected.place != place) return;
  const Nanos end = now() + injected.delay;
  if (place != Place::compute) std::this_thread::sleep_for(injected.delay);
  while (now() < end) continue;
}

class SlowSource final : public BatchSource {
 public:
  explicit SlowSource(std::unique_ptr<BatchSource> inner) : inner_(std::move(inner)) {}
  bool next(Batch& out) override {
    delayIn(Place::loader);
    return inner_->next(out);
  }

 private:
  std::unique_ptr<BatchSource> inner_;
};

class SlowExchange final : public Strategy {
 public:
  explicit SlowExchange(const StrategyContext& context) : inner_(strategies().front().make(context)) {}
  void attach(Replica& replica) override { inner_->attach(replica); }
  void beginStep(Replica& replica, int64_t step) override { inner_->beginStep(replica, step); }
  void gradientReady(Replica& replica, Slice slice) override { inner_->gradientReady(replica, slice); }
  void endStep(Replica& replica) override {
    delayIn(Place::exchange);
    inner_->endStep(replica);
  }
  void finish(Replica& replica) override { inner_->finish(replica); }
  StrategyTraffic traffic() const override { return inner_->traffic(); }

 private:
  std::unique_ptr<Strategy> inner_;
};

class SlowForward final : public Executor {
 public:
  explicit SlowForward(const ExecutorOptions& options)
      : inner_(find(executors(), "planned", "executor").make(options)) {}
  void bind(const Graph& graph, FlatBuffers& buffers) override { inner_->bind(graph, buffers); }
  void setTraining(bool training) override { inner_->setTraining(training); }
  void setGradients(bool keep) override { inner_->setGradients(keep); }
  std::span<const at::Tensor> forward(const Batch& batch) override {
    if (replica == slowReplica) delayIn(Place::compute);
    return inner_->forward(batch);
  }
  void backward(std::span<const at::Tensor> gradients, const GradientReady& ready) override {
    inner_->backward(gradients, ready);
  }
  const at::Generator& generator() const override { return inner_->generator(); }
  std::vector<std::pair<std::string, at::Tensor>> statistics() const override { return inner_->statistics(); }

 private:
  std::unique_ptr<Executor> inner_;
};

/// What --profile makes of two runs that took turns: blocks of steps without and with the delay.
struct Found {
  RunRecord before, after;
  std::vector<PartChange> changes;  ///< as `tandem report compare` lists them
  double growth = 0;                ///< seconds, of the first of them, by pairs of blocks
};

struct Length {
  int64_t batch = 4, warmup = 5, block = 10;
  int64_t steps = 40;  ///< of each kind
};

template <class Chosen>
RunRecord ofSteps(RunRecord record, Chosen chosen) {
  for (ReplicaProfile& replica : record.profile->replicas) {
    std::erase_if(replica.steps, [&](const StepParts& step) { return !chosen(step.step); });
  }
  return record;
}

/// Growth of the part in seconds: the median over the pairs of a block without and the next one with the delay.
inline double pairedGrowth(const RunRecord& whole, const PartChange& part, int64_t block) {
  std::vector<double> growths;
  for (int64_t first = 0; first < static_cast<int64_t>(whole.profile->replicas[0].steps.size()); first += 2 * block) {
    const auto before = ofSteps(whole, [&](int64_t step) { return step >= first && step < first + block; });
    const auto after = ofSteps(whole, [&](int64_t step) { return step >= first + block && step < first + 2 * block; });
    for (const PartChange& change : partChanges(*before.profile, *after.profile)) {
      if (change.part == part.part && change.replica == part.replica) growths.push_back(change.growth());
    }
  }
  return median(growths).value();
}

inline void steps(ReplicaSet::Member& member, Profiler& profiler, const Length& length) {
  replica = member.index();
  active = false;
  for (int64_t i = 0; i < length.warmup; ++i) member.step();
  member.barrier();
  const SpanRecording recorded(&profiler.recorder(replica));
  for (int64_t i = 0; i < 2 * length.steps; ++i) {
    active = i / length.block % 2 == 1;
    member.step();
    profiler.stepDone(replica, i);
  }
  active = false;
}

inline Found run(const Injection& injection, const Length& length) {
  static const ExecutorEntry executor{
      "slow", "",
      [](const ExecutorOptions& o) -> std::unique_ptr<Executor> { return std::make_unique<SlowForward>(o); }, true};
  static const StrategyEntry strategy{
      .name = "slow",
      .summary = "",
      .exchange = Exchange::synchronous,
      .enqueuesOnly = nullptr,
      .make = [](const StrategyContext& c) -> std::unique_ptr<Strategy> { return std::make_unique<SlowExchange>(c); }};
  injected = injection;
  Config config;
  config.network.model = "resnet20", config.placement.replicas = 2, config.placement.oversubscribe = true,
  config.step.batch = length.batch;
  config.numerics.layout = "nhwc", config.numerics.convolution = "direct";
  const RunPlan plan = resolvePlan(config);
  ReplicaSetOptions options = trainingOptions(plan, selectKernels(plan, *plan.graph));
  options.executor = &executor, options.strategy = &strategy;
  options.source = [inner = options.source](int i) { return std::make_unique<SlowSource>(inner(i)); };
  Profiler profiler({"a", "b"});
  ReplicaSet(options).run([&](ReplicaSet::Member& member) { steps(member, profiler, length); });
  RunRecord record;
  profiler.fill(record);
  const auto delayed = [&](int64_t step) { return step / length.block % 2 == 1; };
  Found found{ofSteps(record, std::not_fn(delayed)), ofSteps(record, delayed), {}, 0};
  found.changes = partChanges(*found.before.profile, *found.after.profile);
  found.growth = pairedGrowth(record, found.changes.front(), length.block);
  return found;
}

struct Expected {
  Place place;
  const char *name, *part;
  bool oneReplica;  ///< in whose compute it is

  friend std::ostream& operator<<(std::ostream& out, const Expected& expected) { return out << expected.name; }
};

inline const Expected places[] = {{Place::loader, "loader", "input", false},
                                  {Place::exchange, "exchange", "exchange", false},
                                  {Place::compute, "compute", "forward", true}};

inline std::string textOf(const Found& found) {
  std::string text;
  for (const PartChange& change : found.changes) {
    text += concat(change.part->name, " of ", change.replica, ": ", 1e3 * change.before, " -> ", 1e3 * change.after,
                   " ms\n");
  }
  return text;
}

}  // namespace tandem::attribution

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "run/equivalence_cases.h"
#include "run/repeated_work.h"
#include "train/captured_step.h"

namespace tandem::equivalence {
namespace {

constexpr int64_t recordedSteps = CapturedStep::eagerSteps + 5;

/// Updates that change from step to step.
std::vector<OptimizerOptions> updates() {
  std::vector<OptimizerOptions> all;
  for (const OptimizerEntry& rule : optimizers()) {
    for (const ScheduleEntry& schedule : schedules()) {
      all.push_back(optimizerOptions());
      all.back().rule = &rule;
      all.back().schedule = &schedule;
      all.back().course.totalSteps = recordedSteps;
    }
  }
  return all;
}

/// Of each replica.
struct Outcome {
  std::vector<Weights> weights;
  std::vector<std::vector<double>> losses;
};

Outcome run(const Case& c, const ReplicaSetOptions& options) {
  Outcome result{std::vector<Weights>(c.replicas), std::vector<std::vector<double>>(c.replicas)};
  ReplicaSet(options).run([&](ReplicaSet::Member& member) {
    for (int64_t step = 0; step < recordedSteps; ++step) member.step();
    member.finish();
    result.weights[member.index()] = weightsOf(member.buffers());
    result.losses[member.index()] = member.losses();
  });
  return result;
}

void expectTheSameBits(const Outcome& actual, const Outcome& expected, const std::string& name) {
  EXPECT_EQ(actual.losses, expected.losses) << name;
  for (size_t replica = 0; replica < expected.weights.size(); ++replica) {
    for (size_t i = 0; i < expected.weights[replica].values.size(); ++i) {
      EXPECT_TRUE(at::equal(actual.weights[replica].values[i], expected.weights[replica].values[i]))
          << name << ' ' << expected.weights[replica].names[i];
    }
  }
}

void expectRecordedAsEager(const Case& c) {
  ReplicaSetOptions options = replicaSetOptions(c);
  options.lossScale.initial = 0x1p22;  // steps are skipped
  const Outcome eager = run(c, options);
  options.recorder = [](const Device&) {
    static thread_local WorkLog log;
    return std::make_unique<RepeatedGraph>(log);
  };
  expectTheSameBits(run(c, options), eager, c.name());
}

TEST(CapturedTraining, GivesTheBitsOfEagerTrainingWithEveryOptimizerAndSchedule) {
  const Graph net = smallNet();
  for (const OptimizerOptions& update : updates()) {
    for (const char* precision : {"fp32", "fp16"}) {
      Case c{.graph = &net, .strategy = &strategies().front(), .precision = precision};
      c.executor = concat("planned");
      c.optimizer = update;
      expectRecordedAsEager(c);
    }
  }
}

TEST(CapturedTraining, GivesTheBitsOfEagerTrainingWithEveryExchange) {
  const Graph net = smallNet();
  for (const StrategyEntry& strategy : strategies()) {
    for (Case c : variantsOf(strategy, net)) {
      c.executor = concat("planned");
      c.replicas = 3;
      c.accumulate = 2;
      c.optimizer = updates().back();
      expectRecordedAsEager(c);
    }
  }
}

TEST(CapturedTraining, AnExchangeAfterBackwardGivesTheSameBits) {
  const Graph net = smallNet();
  for (const StrategyEntry& strategy : strategies()) {
    for (Case c : variantsOf(strategy, net)) {
      for (const char* precision : {"fp32", "fp16"}) {
        c.executor = concat("planned");
        c.precision = concat(precision);
        c.replicas = 3;
        c.accumulate = 2;
        c.overlap = true;
        const Outcome overlapped = run(c, replicaSetOptions(c));
        c.overlap = false;
        expectTheSameBits(run(c, replicaSetOptions(c)), overlapped, c.name());
        expectRecordedAsEager(c);
      }
    }
  }
}

// Three operations have a weight and a bias each, which are ready at once. What the last has is told behind the record.
TEST(CapturedTraining, WorkLiesBetweenCallsOfTheHostHoweverSmallTheBuckets) {
  const Graph net = plainNet();
  Case c{.graph = &net, .strategy = &find(strategies(), "parameter_server", "strategy")};
  c.executor = concat("planned");
  ReplicaSetOptions options = replicaSetOptions(c);
  options.buckets.bytes = 1;
  WorkLog log;
  options.recorder = [&log](const Device&) { return std::make_unique<RepeatedGraph>(log); };
  run(c, options);
  const auto launches = std::ranges::count(log, "launch");
  EXPECT_EQ(launches, recordedSteps - CapturedStep::eagerSteps);
  EXPECT_EQ(std::ranges::count(log, "call"), 2 * launches);
  log.clear();
  options.overlap = false;
  run(c, options);
  EXPECT_EQ(std::ranges::count(log, "launch"), launches);
  EXPECT_EQ(std::ranges::count(log, "call"), 0) << "all is told behind the record";
}

/// With batch-norm, a sum and a ReLU, which the planned executor makes one operation, and batch-norm before a ReLU
/// alone.
Graph residualNet() {
  Graph net({3, imageSize, imageSize});
  const auto norm = [&](const char* name, NodeId x, int64_t outputs) {
    return net.add("batch_norm", concat("bn", name),
                   {net.add("conv", concat("conv", name), {x}, conv3x3(outputs, false))});
  };
  NodeId x = net.add("relu", "relu1", {norm("1", net.input(), 16)});
  x = net.add("relu", "relu3",
              {net.add("add", "add", {norm("3", net.add("relu", "relu2", {norm("2", x, 16)}), 16), x})});
  x = net.add("flatten", "flatten", {net.add("global_avg_pool", "pool", {x})});
  net.add("linear", "fc", {x}, {.outputs = classes});
  return net;
}

/// On all GPUs, or one that holds both replicas.
std::vector<Case> onGpus(const Graph& net) {
  std::vector<Case> cases;
  for (const AllReduceEntry& row : allReduces()) {
    if (!row.onCuda || row.enqueuesOnly) continue;
    cases.push_back({.graph = &net, .strategy = &find(strategies(), "replicated", "strategy")});
    cases.back().allReduce = concat(row.name);
  }
  for (const char* device : {"cpu", "device"}) {
    cases.push_back({.graph = &net, .strategy = &find(strategies(), "parameter_server", "strategy")});
    cases.back().parameterDevice = concat(device);
  }
  for (size_t i = 0, overlapping = cases.size(); i < overlapping; ++i) {
    cases.push_back(cases[i]);
    cases.back().overlap = false;
  }
  for (Case& c : cases) {
    c.executor = concat("planned");
    c.optimizer = updates().back();
    c.gpus = cudaDeviceCount();
    c.replicas = std::max(2, c.gpus);
  }
  return cases;
}

// The host runs ahead of the recorded steps and waits for each of the others.
TEST(OnAGpu, AGraphInPartsTrainsToTheSameBits) {
  if (cudaDeviceCount() == 0 || cudaDeviceCount() > 4) GTEST_SKIP() << "for 1 to 4 GPUs";
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
  for (const Graph& net : {plainNet(), residualNet()}) {
    for (const Case& c : onGpus(net)) {
      ReplicaSetOptions options = replicaSetOptions(c);
      options.inFlight = 1;
      const Outcome eager = run(c, options);
      options.inFlight = 8;
      options.recorder = makeCapturedGraph;
      expectTheSameBits(run(c, options), eager, concat(c.name(), ", ", net.nodes().size(), " nodes"));
    }
  }
}

}  // namespace
}  // namespace tandem::equivalence

#pragma once

#include <ATen/ATen.h>
#include <ATen/Context.h>

#include <vector>

#include "run/plan/replica_set_options.h"
#include "run/plan/select_kernels.h"
#include "train/replica_set.h"

namespace tandem {

/// Puts back what a run sets for the process: what libtorch may choose among.
class NumericsKept {
 public:
  NumericsKept() = default;
  ~NumericsKept() {
    at::Context& context = at::globalContext();
    context.setDeterministicAlgorithms(algorithms_, /*warn_only=*/false);
    context.setDeterministicCuDNN(cudnn_);
    context.setBenchmarkCuDNN(benchmark_);
  }
  NumericsKept(const NumericsKept&) = delete;
  NumericsKept& operator=(const NumericsKept&) = delete;

 private:
  bool algorithms_ = at::globalContext().deterministicAlgorithms();
  bool cudnn_ = at::globalContext().deterministicCuDNN(), benchmark_ = at::globalContext().benchmarkCuDNN();
};

struct GpuTraining {
  std::vector<double> losses;       ///< of each step
  std::vector<at::Tensor> weights;  ///< masters, by segment

  bool sameBits(const GpuTraining& other) const {
    bool same = losses == other.losses && weights.size() == other.weights.size();
    for (size_t i = 0; same && i < weights.size(); ++i) same = weights[i].equal(other.weights[i]);
    return same;
  }
};

/// Eight steps of `tandem bench` with these options on the first GPU.
inline GpuTraining trainOnGpu(Config config) {
  config.placement.devices = "cuda:0";
  config.step.batch = 8;
  const NumericsKept kept;
  const RunPlan plan = resolvePlan(config);
  ReplicaSet team(trainingOptions(plan, selectKernels(plan, *plan.graph)));
  GpuTraining trained;
  team.run([&trained](ReplicaSet::Member& member) {
    for (int i = 0; i < 8; ++i) member.step();
    member.finish();
    trained.losses = member.losses();
    const FlatBuffers& buffers = member.buffers();
    for (int segment = 0; segment < buffers.segments(); ++segment) {
      trained.weights.push_back(buffers.master(buffers.whole(segment)).cpu());
    }
  });
  return trained;
}

}  // namespace tandem

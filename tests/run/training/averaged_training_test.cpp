// --ema with running statistics.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "run/plan/replica_set_options.h"
#include "run/training/checkpoint_folder.h"
#include "run/training/saved_tensor.h"
#include "run/training/tiny_training.h"
#include "run/training/training_state.h"

namespace tandem {
namespace {

/// Trainings of two replicas, of a network with batch-norm.
class AveragedTraining : public TinyTraining {
 protected:
  Config config(double epochs, double ema = 0.9) const {
    Config config = TinyTraining::config(epochs);
    config.network.model = "resnet20", config.placement.replicas = 2;
    config.step.ema = ema;
    return config;
  }

  /// Trains to the end with checkpoints in `name`, and weights beside it.
  TrainingState trained(Config config, const std::string& name) const {
    config.training.checkpoint = path(name), config.output.saveWeights = path(name + ".safetensors");
    ended(config);
    return newestCheckpoint(path(name))->state;
  }
};

const at::Tensor& named(const StateTensors& state, const std::string& name) {
  const auto found = std::ranges::find(state, name, &StateTensors::value_type::first);
  if (found == state.end()) throw InternalError("no tensor " + name);
  return found->second;
}

TEST_F(AveragedTraining, SavesTheMeanOfTheReplicasAverages) {
  const TrainingState plain = trained(config(2, 0), "plain"), averaged = trained(config(2), "averaged");
  for (const std::string name : {"bn1.running_mean", "bn1.running_var"}) {
    at::Tensor sum = at::zeros({16}, at::kDouble);
    for (size_t i = 0; i < 2; ++i) {
      const at::Tensor &live = named(averaged.replicas[i], "statistics." + name),
                       &average = named(averaged.replicas[i], "averaged_statistics." + name);
      EXPECT_TRUE(at::equal(live, named(plain.replicas[i], "statistics." + name)))
          << name << ": an evaluation undoes what it exchanges";
      EXPECT_FALSE(at::equal(live, average)) << name;
      sum += average;
    }
    EXPECT_TRUE(at::equal(savedIn(path("averaged.safetensors"), name), (sum / 2).to(at::kFloat))) << name;
  }
}

TEST_F(AveragedTraining, ResumedEndsWithTheBitsOfAnUninterruptedOne) {
  const std::string whole = weightsOf(config(3));
  EXPECT_EQ(weightsOfResumed(config(3), 1.5), whole);
}

// Their averages of 10 steps would else begin with statistics of no image.
TEST_F(AveragedTraining, OtherNumbersOfReplicasTakeRunningStatistics) {
  const TrainingState state = trained(config(1), "two");
  ASSERT_EQ(state.replicas.size(), 2U);
  Config three = config(1);
  three.placement.replicas = 3;
  const RunPlan plan = resolvePlan(three);
  StateExchange exchange(*plan.graph, nullptr, 3);
  ReplicaSet(trainingOptions(plan, KernelSelection())).run([&](ReplicaSet::Member& member) {
    exchange.give(member, state);
    const StateTensors &from = state.replicas[static_cast<size_t>(member.index()) % 2], own = member.ownState();
    for (const char* name : {"statistics.bn1.running_var", "averaged_statistics.bn1.running_var"}) {
      EXPECT_TRUE(at::equal(named(own, name), named(from, name))) << name;
    }
  });
}

}  // namespace
}  // namespace tandem

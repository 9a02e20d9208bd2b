// Networks behind a whitening convolution.
#include <gtest/gtest.h>

#include "run/training/saved_tensor.h"
#include "run/training/tiny_training.h"

namespace tandem {
namespace {

class WhitenedTraining : public TinyTraining {
 protected:
  /// Few images: this network takes longer than the others that train so.
  WhitenedTraining() {
    writeIdxImages(folder_ / "data", 16);
    writeIdxImages(folder_ / "data", 10, 0, "t10k");
  }

  Config config(double epochs) const {
    Config config = TinyTraining::config(epochs);
    config.network.model = "airbench94", config.input.augment = "airbench";
    return config;
  }

  /// A tensor of the weights that a training ends with.
  at::Tensor ended(Config config, const std::string& name) const {
    config.output.saveWeights = path("weights.safetensors");
    TinyTraining::ended(config);
    return savedIn(config.output.saveWeights, name);
  }
};

TEST_F(WhitenedTraining, TheWeightIsMadeOfTheImagesAndStays) {
  const at::Tensor one = ended(config(1), "0.weight");
  ASSERT_EQ(one.numel(), 24 * 3 * 2 * 2);
  EXPECT_TRUE(at::equal(one.narrow(0, 0, 144), -one.narrow(0, 144, 144)));
  Config other = config(2);
  other.placement.replicas = 2, other.step.seed = 5;
  EXPECT_TRUE(at::equal(ended(other, "0.weight"), one)) << "neither seed nor updates change it";
}

TEST_F(WhitenedTraining, TheBiasIsTrainedAsLongAsItShall) {
  Config first = config(3);
  first.training.whitenEpochs = 1;
  const at::Tensor ofFirst = ended(first, "0.bias"), ofAll = ended(config(3), "0.bias");
  EXPECT_TRUE(at::equal(ended(config(1), "0.bias"), ofFirst)) << "its updates are the first ones of three epochs";
  EXPECT_FALSE(at::equal(ofAll, ofFirst));
}

TEST_F(WhitenedTraining, ResumedEndsWithTheBitsOfAnUninterruptedOne) {
  Config config = this->config(2);
  config.training.whitenEpochs = 1, config.step.shiftRate = 64;
  EXPECT_EQ(weightsOfResumed(config, 1.5), weightsOf(config));
}

// A file of weights has it, and it is not made anew.
TEST_F(WhitenedTraining, AFileOfWeightsHasIt) {
  const at::Tensor made = ended(config(1), "0.weight");
  Config with = config(1);
  with.network.weights = path("first.safetensors");
  std::filesystem::rename(path("weights.safetensors"), with.network.weights);
  writeIdxImages(folder_ / "data", 30);
  EXPECT_TRUE(at::equal(ended(with, "0.weight"), made));
}

}  // namespace
}  // namespace tandem

// Networks behind a whitening convolution.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "formats/weights/weights_file.h"
#include "run/training/tiny_training.h"

namespace tandem {
namespace {

using Values = std::vector<float>;

class WhitenedTraining : public TinyTraining {
 protected:
  Config config(double epochs) const {
    Config config = TinyTraining::config(epochs);
    config.network.model = "airbench94", config.input.augment = "airbench";
    return config;
  }

  /// A tensor of the weights that a training ends with.
  Values ended(Config config, const std::string& name) const {
    config.output.saveWeights = path("weights.safetensors");
    TinyTraining::ended(config);
    const auto file = WeightsFile::open(config.output.saveWeights);
    const auto found = std::ranges::find(file.tensors(), name, &FileTensor::name);
    if (found == file.tensors().end()) throw InternalError("no tensor " + name);
    Values values(found->bytes.size() / sizeof(float));
    std::memcpy(values.data(), found->bytes.data(), found->bytes.size());
    return values;
  }
};

TEST_F(WhitenedTraining, TheWeightIsMadeOfTheImagesAndStays) {
  const Values one = ended(config(1), "0.weight");
  ASSERT_EQ(one.size(), 24U * 3 * 2 * 2);
  for (size_t i = 0; i < one.size() / 2; ++i) EXPECT_EQ(one[i], -one[one.size() / 2 + i]) << i;
  Config other = config(2);
  other.placement.replicas = 2, other.step.seed = 5;
  EXPECT_EQ(ended(other, "0.weight"), one) << "neither seed nor updates change it";
}

TEST_F(WhitenedTraining, TheBiasIsTrainedAsLongAsItShall) {
  Config first = config(3), all = config(3);
  first.training.whitenEpochs = 1;
  const Values ofFirst = ended(first, "0.bias"), ofAll = ended(all, "0.bias");
  Config one = config(1);  // whose updates are the first ones of three epochs
  EXPECT_EQ(ended(one, "0.bias"), ofFirst);
  EXPECT_NE(ofAll, ofFirst);
}

TEST_F(WhitenedTraining, ResumedEndsWithTheBitsOfAnUninterruptedOne) {
  Config config = this->config(2);
  config.training.whitenEpochs = 1, config.step.shiftRate = 64;
  EXPECT_EQ(weightsOfResumed(config, 1.5), weightsOf(config));
}

// A file of weights has it, and it is not made anew.
TEST_F(WhitenedTraining, AFileOfWeightsHasIt) {
  Config first = config(1);
  first.output.saveWeights = path("first.safetensors");
  const Values made = ended(config(1), "0.weight");
  Config with = config(1);
  with.network.weights = path("weights.safetensors");
  std::filesystem::rename(path("weights.safetensors"), path("first.safetensors"));
  with.network.weights = path("first.safetensors");
  std::filesystem::remove_all(folder_ / "data");
  writeIdxImages(folder_ / "data", 30);
  writeIdxImages(folder_ / "data", 20, 0, "t10k");
  EXPECT_EQ(ended(with, "0.weight"), made);
}

}  // namespace
}  // namespace tandem

// The golden numbers tell a network from one with a single mistake: one in each family.
#include "executor/changed_graph.h"
#include "executor/golden_comparison.h"

namespace tandem::golden {
namespace {

Change withEpsilon(double epsilon) {
  return [=](Node& node) {
    node.attributes.epsilon = epsilon;
    return true;
  };
}

Change withPaddingCounted() {
  return [=](Node& node) {
    node.attributes.countPadding = true;
    return true;
  };
}

Change withStrideOn(const std::string& wrong, const std::string& right) {
  return [=](Node& node) {
    if (node.name == wrong) node.attributes.strideH = node.attributes.strideW = 2;
    if (node.name == right) node.attributes.strideH = node.attributes.strideW = 1;
    return true;
  };
}

struct Mistake {
  std::string model;
  Change make;
  friend std::ostream& operator<<(std::ostream& out, const Mistake& mistake) { return out << mistake.model; }
};

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> all{
      {"resnet18", without("layer2.0.relu1")},
      {"resnet20", without("layer1.0.relu1")},
      {"resnext50_32x4d", withStrideOn("layer2.0.conv1", "layer2.0.conv2")},
      {"vgg11", without("features.9")},
      {"alexnet", without("features.9")},
      {"googlenet", withEpsilon(1e-5)},
      {"inception_v3", withEpsilon(1e-5)},
      {"densenet40_k12", without("denseblock2.denselayer5.relu")},
      {"alexnet_cifar", without("lrn1")},
      {"overfeat", without("relu3")},
      {"keras_cnn", without("activation_1")},
      {"densenet121", without("features.denseblock3.denselayer7.relu2")},
      {"mobilenet_v2", withStrideOn("features.4.conv.0.0", "features.4.conv.1.0")},
      {"squeezenet1_1", without("features.9.squeeze_activation")},
      {"efficientnet_b0", without("features.5.1.block.2.activation")},
      {"regnet_y_3_2gf", withStrideOn("trunk_output.block2.block2-0.f.a.0", "trunk_output.block2.block2-0.f.b.0")},
      {"convnext_tiny", without("features.5.4.block.4")},
      {"vit_b_16", without("encoder.layers.encoder_layer_5.mlp.1")},
      {"lenet5", without("relu1")},
      {"resnet50_v2", withStrideOn("stages.1.blocks.0.conv2", "stages.1.blocks.0.conv1")},
      {"airbench94", without("3.activ1")},
      {"resnet9", without("layer1_residual_res2_relu")},
      {"keras_inception_v3", withPaddingCounted()},
      {"inception_v4", withPaddingCounted()},
      {"nasnet_mobile", without("reduction_cell_1.comb_iter_0_right.act_2")},
      {"frameworks_cnn", without("relu3")},
      {"mlp", without("activation_1")},
      {"trivial", without("relu1")},
  };
  return all;
}

class GoldenMutant : public testing::TestWithParam<Mistake> {};

TEST_P(GoldenMutant, IsFarFromTheGoldenNumbers) {
  const GoldenModel model(GetParam().model);
  const Graph graph = changed(model.graph(), GetParam().make);
  ModelSubject subject = model.subject(graph, find(executors(), "planned", "executor"), layouts().front());
  const Batch batch = model.begin(subject, /*training=*/true);
  const at::Tensor logits = subject.executor().forward(batch)[0];
  EXPECT_GT(relativeDistance(logits, model.numbers(true).at("logits")), 2 * tolerance);
}

INSTANTIATE_TEST_SUITE_P(Families, GoldenMutant, testing::ValuesIn(mistakes()),
                         [](const auto& row) { return row.param.model; });

TEST(GoldenMutants, AreOfEveryFamily) {
  for (const ModelEntry& entry : models()) {
    const auto isOne = [&](const Mistake& mistake) { return sameFamily(mistake.model, entry); };
    EXPECT_TRUE(!classifies(entry) || std::ranges::any_of(mistakes(), isOne))
        << entry.name << ": mistakes() has none of its family";
  }
}

}  // namespace
}  // namespace tandem::golden

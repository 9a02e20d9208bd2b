#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "run_tandem.h"
#include "support/contains.h"
#include "support/idx_images.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

using Texts = std::vector<std::string>;

std::string image(const std::string& name) { return concat(testsFolder(), "/golden/images/", name); }

std::string contentOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Weights that a short run has written.
class Predict : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    weights = ownFolder() + "/w.safetensors";
    const auto run =
        runTandem({"bench", "--model=resnet20", "--layout=nhwc", "--convolution=direct", "--batch=4", "--replicas=1",
                   "--steps=2", "--warmup=0", "--verify=off", "--allow-interference", "--save-weights=" + weights});
    ASSERT_EQ(run.code, 0) << run.err;
  }

  Finished tandem(const std::string& command, Texts more) const {
    Texts all{command, "--model=resnet20", "--weights=" + weights};
    all.insert(all.end(), more.begin(), more.end());
    return runForked(all);
  }

  void expectRefused(const std::string& command, const Texts& more, int code, const std::string& part) const {
    const auto run = tandem(command, more);
    EXPECT_EQ(run.code, code) << run.err;
    ASSERT_EQ(run.errors().size(), 1U) << run.err;
    EXPECT_TRUE(contains(run.errors().front(), part)) << run.err;
    EXPECT_EQ(run.out, "");
  }

  static inline std::string weights;
};

TEST_F(Predict, ShowsTheBestClassesOfEachImage) {
  const auto run = tandem("predict", {image("rgb.jpg"), image("grey.png"), "--top=3"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "image ") && contains(run.out, "class  softmax\n")) << run.out;
  EXPECT_TRUE(contains(run.out, "\n2 images in ")) << run.out;
  EXPECT_TRUE(contains(run.out, " images/s on 1 replica\n")) << run.out;
  EXPECT_TRUE(contains(run.err, "note: weights " + weights + " (safetensors, sha256 ")) << run.err;
}

TEST_F(Predict, PrintsJson) {
  const std::string names = ownFolder() + "/names.txt";
  std::ofstream(names) << "a\nb\nc\nd\ne\nf\ng\r\nh\ni\n\xC3\xA4 \"j\"\n";
  const auto run = tandem("predict", {"--json", "--top=0", "--class-names=" + names, "--replicas=2", "--oversubscribe",
                                      "--batch=1", image("rgb.jpg"), image("rgb.png"), image("grey.jpg")});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto object = nlohmann::json::parse(run.out);
  ASSERT_EQ(object.at("images").size(), 3U);
  for (const auto& entry : object.at("images")) {
    ASSERT_EQ(entry.at("classes").size(), 10U);
    double sum = 0, last = 1;
    for (const auto& scored : entry.at("classes")) {
      sum += scored.at("score").get<double>();
      EXPECT_LE(scored.at("score").get<double>(), last);
      last = scored.at("score");
      const std::string letters = "abcdefghi";
      const auto number = scored.at("class").get<size_t>();
      EXPECT_EQ(scored.at("name"), number == 9 ? "\xC3\xA4 \"j\"" : letters.substr(number, 1));
    }
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  EXPECT_EQ(object.at("images")[1].at("image"), image("rgb.png"));
  EXPECT_GT(object.at("images_per_second").get<double>(), 0);
}

TEST_F(Predict, ScalesImagesAsAsked) {
  const auto scores = [this](Texts more) {
    more.insert(more.end(), {"--json", "--top=0", "--scores=logits", image("rgb.jpg")});
    return nlohmann::json::parse(tandem("predict", more).out).at("images");
  };
  EXPECT_EQ(scores({}), scores({"--interpolation=bilinear"}));
  EXPECT_NE(scores({}), scores({"--interpolation=bicubic"}));
}

TEST_F(Predict, RefusesWrongArguments) {
  expectRefused("predict", {}, usage, "needs images");
  expectRefused("predict", {"--top=1,2", image("rgb.jpg")}, usage, "takes one value");
  expectRefused("predict", {"--replicas=1,2", image("rgb.jpg")}, usage, "takes one value of --replicas, not a list");
  expectRefused("predict", {"--resize=16", image("rgb.jpg")}, usage, "must be at least the network's input of 32");
  expectRefused("predict", {"--lr=1", image("rgb.jpg")}, usage, "unknown option '--lr'");
  expectRefused("predict", {"--classes=14", image("rgb.jpg")}, checkpoint,
                "'fc.weight' is [10, 64] in the file and [14");
  expectRefused("predict", {"--weights-map=keras", image("rgb.jpg")}, usage, "it knows keras_resnet50, resnet50_v1");
  const auto run = runForked({"predict", image("rgb.jpg")});
  EXPECT_EQ(run.code, usage);
  EXPECT_TRUE(contains(run.err, "needs trained weights: --weights=FILE")) << run.err;
  EXPECT_EQ(runForked({"predict", "--help"}).code, 0);
}

TEST_F(Predict, NamesImagesThatCannotBeRead) {
  expectRefused("predict", {image("rgb.jpg"), image("cmyk.jpg")}, data, "cmyk.jpg: its colours are CMYK");
  expectRefused("predict", {image("expected.json")}, data, "neither like a JPEG nor like a PNG");
  expectRefused("predict", {"no.png"}, data, "no.png");
  expectRefused("predict", {"--class-names=" + image("rgb.jpg"), image("rgb.jpg")}, data, "rgb.jpg: ");
  expectRefused("predict", {"--bad-image=skip", image("cmyk.jpg")}, data, "none of 1 images could be read");
  const auto run = tandem("predict", {"--bad-image=skip", "--json", image("cmyk.jpg"), image("rgb.jpg")});
  EXPECT_EQ(run.code, 0) << run.err;
  const auto object = nlohmann::json::parse(run.out);
  EXPECT_EQ(object.at("images").size(), 1U);
  EXPECT_EQ(object.at("left_out")[0].at("image"), image("cmyk.jpg"));
  EXPECT_TRUE(contains(run.err, "left out: ")) << run.err;
}

TEST_F(Predict, FeaturesAreWrittenAsNpy) {
  const std::string out = ownFolder() + "/f.npy";
  const auto run = tandem("features", {"--out=" + out, image("rgb.jpg"), image("rgb.png"), image("grey.jpg")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, out + ": 3 x 64 features\n3 images in ")) << run.out;
  const std::string content = contentOf(out);
  EXPECT_EQ(content.size(), 128U + 3 * 64 * 4);
  EXPECT_TRUE(contains(content.substr(0, 128), "'shape': (3, 64), }"));
  expectRefused("features", {image("rgb.jpg")}, usage, "needs a file to write");
  expectRefused("features", {"--out=f.txt", image("rgb.jpg")}, usage, "must end in .npy or .safetensors");
  expectRefused("features", {"--out=/no/such/f.npy", image("rgb.jpg")}, 8, "/no/such/f.npy");
}

TEST_F(Predict, FeaturesOfADataSetComeWithLabels) {
  const std::string out = ownFolder() + "/f.safetensors";
  Texts arguments{"--out=" + out, "--batch=64", "--data=" + writeIdxImages(ownFolder() + "/set", 100)};
  const auto run = tandem("features", arguments);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "100 x 64 features")) << run.out;
  const auto inspected = runForked({"weights", "inspect", out});
  EXPECT_TRUE(contains(inspected.out, "labels    I64   [100]")) << inspected.out;
  arguments.push_back(image("rgb.jpg"));
  expectRefused("features", arguments, usage, "not from both");
}

TEST_F(Predict, OfADataSetSaysHowManyTestImagesAreRight) {
  const std::string folder = ownFolder() + "/tested";
  writeIdxImages(folder, 50), writeIdxImages(folder, 40, 0, "t10k");
  const auto run = tandem("predict", {"--data=" + folder, "--batch=16"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with("accuracy on 40 test images of " + folder + ": top-1 ")) << run.out;
  const auto object = nlohmann::json::parse(tandem("predict", {"--data=" + folder, "--json"}).out);
  double first = 0, five = 0;
  for (size_t i = 0; i < 40; ++i) {
    const auto& classes = object.at("images").at(i).at("classes");
    const auto isRight = [&](const nlohmann::json& scored) { return scored.at("class") == i % 10; };
    EXPECT_EQ(object.at("images").at(i).at("label"), i % 10);
    first += isRight(classes.at(0)) ? 1.0 : 0, five += std::ranges::any_of(classes, isRight) ? 1.0 : 0;
  }
  EXPECT_NEAR(object.at("accuracy").at("top_1").get<double>(), first / 40, 1e-12);
  EXPECT_NEAR(object.at("accuracy").at("top_5").get<double>(), five / 40, 1e-12);
  EXPECT_TRUE(contains(run.out, concat("top-1 ", fixed(100 * first / 40, 2), " %, top-5 "))) << run.out;
  const auto validation = tandem("predict", {"--data=" + folder, "--data-split=validation"});
  EXPECT_TRUE(validation.out.starts_with("accuracy on 40 test images of ")) << validation.out;
  EXPECT_TRUE(contains(validation.err, "it has no validation images; these are its test images")) << validation.err;
  expectRefused("predict", {"--data-split=test", image("rgb.jpg")}, usage, "--data-split=test needs --data");
  expectRefused("features", {"--data-split=val", "--data=" + folder}, usage, "unknown data-split 'val'");
  expectRefused("predict", {"--data=" + folder, "--top=3"}, usage, "--top is of single images");
  expectRefused("predict", {"--data=" + folder, "--resize=40"}, usage, "--resize is for image files");
  expectRefused("predict", {"--data=" + folder, "--interpolation=bicubic"}, usage,
                "--interpolation is for image files");
  const auto files = nlohmann::json::parse(tandem("predict", {"--json", image("rgb.jpg")}).out);
  EXPECT_FALSE(files.contains("accuracy")) << "files have no labels";
}

TEST_F(Predict, TheRecordOfARunSaysWhichWeights) {
  const auto run =
      runTandem({"bench", "--model=resnet20", "--layout=nhwc", "--convolution=direct", "--classes=14", "--batch=4",
                 "--replicas=1", "--steps=2", "--repeats=1", "--verify=off", "--allow-interference", "--warmup=0",
                 "--weights=" + weights, "--reset-head", "--format=json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "sha256 ") && contains(run.out, "map none): ")) << run.out;
  EXPECT_TRUE(contains(run.out, "the classifier keeps initial values in fc.weight; fc.bias")) << run.out;
  const auto refused =
      runTandem({"bench", "--model=resnet20", "--layout=nhwc", "--convolution=direct", "--classes=14", "--batch=4",
                 "--replicas=1", "--steps=2", "--repeats=1", "--warmup=0", "--weights=" + weights});
  EXPECT_EQ(refused.code, checkpoint);
  EXPECT_TRUE(contains(refused.err, "--reset-head in bench")) << refused.err;
  const auto sweep = runForked({"bench", "--model=resnet20", "--replicas=1,2", "--save-weights=x.safetensors"});
  EXPECT_EQ(sweep.code, usage);
  EXPECT_TRUE(contains(sweep.err, "each would replace the file")) << sweep.err;
}

}  // namespace
}  // namespace tandem

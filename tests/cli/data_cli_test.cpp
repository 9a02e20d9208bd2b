#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "run_tandem.h"
#include "support/contains.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

/// A made data set: 12 images of two classes in each split.
class DataCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = ownFolder() + "/made";
    const auto run = runForked({"data", "make", folder_, "--images=12", "--classes=2", "--size=40x30"});
    ASSERT_EQ(run.code, 0) << run.err;
  }

  Texts benchArguments(const Texts& more) const {
    Texts all{
        "bench",     "--model=resnet20", "--data=" + folder_,    "--batch=4",    "--replicas=1",  "--warmup=0",
        "--steps=6", "--repeats=1",      "--allow-interference", "--verify=off", "--format=json", "--deterministic"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  Finished bench(const Texts& more) const { return runTandem(benchArguments(more)); }

  /// The losses of each point of a bench.
  std::vector<nlohmann::json> lossesOf(const Texts& more) const {
    const Finished run = bench(more);
    EXPECT_EQ(run.code, 0) << run.err;
    std::vector<nlohmann::json> losses;
    for (const auto& record : nlohmann::json::parse(run.out)) losses.push_back(record.at("losses"));
    return losses;
  }

  /// Breaks the first image of the first class.
  std::string breakImage() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ + "/train")) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    std::ofstream(files.front(), std::ios::binary) << "<html>";
    return files.front();
  }

  /// A table of the first so many of the validation images, as those of a test.
  void addTests(int images) const {
    std::ifstream from(folder_ + "/val.csv");
    std::ofstream to(folder_ + "/test.csv");
    std::string line;
    for (int i = 0; i <= images && std::getline(from, line); ++i) to << line << '\n';
  }

  std::string folder_;
};

TEST_F(DataCommand, InspectSaysWhatIsThere) {
  const auto run = runForked({"data", "inspect", folder_});
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* part :
       {"labelled files", "images    12", "2, one class per image", "height    30", "width     40"}) {
    EXPECT_TRUE(contains(run.out, part)) << part << "\n" << run.out;
  }
  EXPECT_TRUE(contains(run.out, "split     training\n")) << run.out;
  const auto tests = runForked({"data", "inspect", folder_, "--data-split=test"});
  EXPECT_TRUE(contains(tests.out, "split     it has no test images; these are its validation images\n")) << tests.out;
  EXPECT_TRUE(contains(tests.out, "images    12")) << tests.out;
}

TEST_F(DataCommand, MakeIsAFunctionOfItsOptions) {
  const std::string again = ownFolder() + "/again", other = ownFolder() + "/other";
  const auto run = runForked({"data", "make", again, "--images=12", "--classes=2", "--size=40x30"});
  ASSERT_EQ(runForked({"data", "make", other, "--images=12", "--classes=2", "--size=40x30", "--seed=2"}).code, 0);
  const auto manifest = [](const std::string& of) {
    std::ifstream file(of + "/tandem-data.json");
    return nlohmann::json::parse(file);
  };
  EXPECT_EQ(manifest(folder_), manifest(again));
  const auto sumOf = [&](const std::string& of, size_t split) {
    return manifest(of).at("splits").at(split).at("sha256");
  };
  EXPECT_NE(sumOf(folder_, 0), sumOf(other, 0));
  EXPECT_NE(sumOf(folder_, 0), sumOf(folder_, 1));
}

TEST_F(DataCommand, ItsMistakesAreUsageErrors) {
  EXPECT_EQ(runForked({"data", "make", folder_}).code, storage) << "is there already";
  for (const Texts& arguments : {Texts{"data"},
                                 {"data", "mend", "x"},
                                 {"data", "inspect"},
                                 {"data", "inspect", "a", "b"},
                                 {"data", "inspect", folder_, "--data-split=val"},
                                 {"data", "inspect", folder_, "--data-split=all"},
                                 {"data", "inspect", folder_, "--split=test"},
                                 {"data", "serve", "ipc://x", "--data-split=test"},
                                 {"data", "serve", "ipc://x", "--data=" + folder_, "--data-split=tests"},
                                 {"data", "serve", "ipc://x", "--timeout=-1"},
                                 {"data", "size"},
                                 {"data", "size", "--model=resnet20"},
                                 {"data", "size", folder_, "--steps=3"},
                                 {"data", "size", folder_, "--out=x"},
                                 {"data", "size", folder_, "--input=device"},
                                 {"data", "size", folder_, "--ranks=2"},
                                 {"data", "size", folder_, "--loader-only"},
                                 {"data", "size", folder_, "--batch=4,8"},
                                 {"data", "size", folder_, "--batch=max"},
                                 {"data", "size", folder_, "--data=" + folder_},
                                 {"data", "size", folder_, "--colour=red"},
                                 {"data", "size", "synthetic"},
                                 {"data", "make", "x", "--size=0x5"},
                                 {"data", "make", "x", "--size=ax5"},
                                 {"data", "make", "x", "--format=gif"},
                                 {"data", "make", "x", "--images=-1"},
                                 {"data", "make", "x", "--images=10+10+10+10"},
                                 {"data", "make", "x", "--images=10+"},
                                 {"data", "make", "x", "--labels=-1"},
                                 {"data", "make", "x", "--labels=3", "--size=15"},
                                 {"data", "make", "x", "--labels=3", "--size=photographs"},
                                 {"data", "make", "x", "--labels=3", "--images=0"},
                                 {"data", "make", "x", "--labels=3", "--container=tfrecord"},
                                 {"data", "make", "x", "--labels=3", "--from=" + folder_},
                                 {"data", "make", "x", "--container=chestxray14", "--labels=3"},
                                 {"data", "make", "x", "--container=chestxray14", "--labels=0"},
                                 {"data", "make", "x", "--container=chestxray14", "--format=jpeg"},
                                 {"data", "make", "x", "--container=idx"},
                                 {"data", "make", "x", "--grain=128"},
                                 {"data", "make", "x", "--image=1"},
                                 {"data", "make", "x", "--images"},
                                 {"data", "make", "x", "--from=" + folder_}}) {
    const auto run = runForked(arguments);
    EXPECT_EQ(run.code, usage) << join(arguments) << run.err;
    EXPECT_EQ(run.errors().size(), 1U) << run.err;
  }
  EXPECT_FALSE(fs::exists(ownFolder() + "/x"));
  EXPECT_EQ(runForked({"data", "size", ownFolder() + "/absent"}).code, data);
}

TEST_F(DataCommand, SizeSaysWhatLoadingCosts) {
  const Texts typed{"data",      "size",         folder_,         "--model=resnet20",
                    "--batch=4", "--budget=0.1", "--layout=nhwc", "--convolution=direct"};
  const auto run = runTandem(typed);
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* part : {"labelled files, 12 images", "--augment=imagenet", "images/s without loading",
                           "\n--decode=exact ", "\n--decode=fast ", "\npacked pixels ", "\nloading "}) {
    EXPECT_TRUE(contains(run.out, part)) << part << "\n" << run.out;
  }
  breakImage();
  EXPECT_EQ(runTandem(typed).code, data) << "as in training, it ends at an image that cannot be read";
  Texts again = typed;
  again.insert(again.end(), {"--json", "--decode=fast", "--bad-image=zero"});
  const auto borne = runTandem(again);
  ASSERT_EQ(borne.code, 0) << borne.err;
  const auto json = nlohmann::json::parse(borne.out);
  ASSERT_EQ(json.at("ways").size(), 3U);
  EXPECT_EQ(json.at("ways").at(0).at("name"), "--decode=fast") << "what is asked for is the first";
  EXPECT_EQ(json.at("ways").at(1).at("name"), "--decode=exact");
  EXPECT_GT(json.at("ways").at(0).at("one_core").at("decode_s"), 0);
  EXPECT_EQ(json.at("ways").at(2).at("one_core").at("decode_s"), 0);
  EXPECT_EQ(json.at("ways").at(2).at("bytes"), 12 * 37 * 37 * 3);
  EXPECT_FALSE(json.at("advice").get<std::string>().empty());
}

TEST_F(DataCommand, BenchTrainsOnImageFiles) {
  const auto run = bench({});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto record = nlohmann::json::parse(run.out).at(0);
  EXPECT_EQ(record.at("placement").at("data"), "labelled files");
  EXPECT_EQ(record.at("placement").at("augment"), "imagenet");
  EXPECT_EQ(record.at("config").at("classes"), 2);
}

TEST_F(DataCommand, BenchTakesTheSplitThatIsAskedFor) {
  addTests(5);
  const auto recordOf = [&](const std::string& split) {
    const auto run = bench({"--data-split=" + split});
    EXPECT_EQ(run.code, 0) << run.err;
    return nlohmann::json::parse(run.out).at(0);
  };
  const auto test = recordOf("test"), validation = recordOf("validation");
  EXPECT_EQ(test.at("config").at("data-split"), "test");
  EXPECT_EQ(test.at("placement").at("data_images"), 5);
  EXPECT_EQ(validation.at("placement").at("data_images"), 12);
  fs::remove(folder_ + "/test.csv");
  EXPECT_EQ(recordOf("test").at("notes").front(),
            concat("--data=", folder_, ": it has no test images; these are its validation images"));
}

TEST_F(DataCommand, BenchTrainsAlikeForAnyNumberOfProducersAndReplicas) {
  const auto queued = lossesOf({"--producers=1,3"});
  ASSERT_EQ(queued.size(), 2U);
  EXPECT_EQ(queued[0], queued[1]);
  EXPECT_EQ(queued[0], lossesOf({"--input=host"}).at(0));
  const auto others = lossesOf({"--augment=center,resize:36+random_crop+color_jitter"});
  ASSERT_EQ(others.size(), 2U);
  EXPECT_NE(queued[0], others[0]);
  EXPECT_NE(queued[0], others[1]);
  const auto drawn = lossesOf({"--augment=random_resized_crop:bicubic+rand_augment", "--producers=1,3"});
  ASSERT_EQ(drawn.size(), 2U);
  EXPECT_EQ(drawn[0], drawn[1]);
}

TEST_F(DataCommand, FastDecodingGivesOtherPixelsAndTheSameForAnyNumberOfProducers) {
  const auto fast = lossesOf({"--decode=fast", "--producers=1,3"}), exact = lossesOf({"--decode=exact"});
  ASSERT_EQ(fast.size(), 2U);
  EXPECT_NE(fast[0], exact.at(0));
  EXPECT_EQ(fast[0], fast[1]);
}

TEST_F(DataCommand, LoaderOnlyMakesBatchesAndComputesNothing) {
  const auto run = bench({"--loader-only"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto record = nlohmann::json::parse(run.out).at(0);
  EXPECT_TRUE(record.at("losses").empty());
  EXPECT_TRUE(record.at("placement").at("flops_per_image").is_null()) << "not known";
  EXPECT_TRUE(contains(runTandem({"bench", "--model=resnet20", "--data=" + folder_, "--loader-only", "--steps=2",
                                  "--repeats=1", "--replicas=1", "--batch=4", "--allow-interference"})
                           .out,
                       "batches only: nothing was computed"));
  const auto saved = runForked(benchArguments({"--loader-only", "--save-weights=" + ownFolder() + "/w.safetensors"}));
  EXPECT_EQ(saved.code, usage);
  EXPECT_TRUE(contains(saved.err, "with --loader-only: nothing is trained")) << saved.err;
  const auto repeated = runForked({"bench", "--model=resnet20", "--loader-only", "--steps=2", "--replicas=1"});
  EXPECT_EQ(repeated.code, usage);
  EXPECT_TRUE(contains(repeated.err, "--loader-only with --input=device, which makes one batch")) << repeated.err;
  const auto pixels = runForked({"bench", "--model=resnet20", "--decode=fast", "--steps=2", "--replicas=1"});
  EXPECT_EQ(pixels.code, usage);
  EXPECT_TRUE(contains(pixels.err, "--decode=fast is for image files; give them as --data")) << pixels.err;
}

TEST_F(DataCommand, PredictCountsTheTestImages) {
  const std::string weights = ownFolder() + "/w.safetensors";
  ASSERT_EQ(bench({"--save-weights=" + weights}).code, 0);
  const auto run =
      runForked({"predict", "--model=resnet20", "--classes=2", "--weights=" + weights, "--data=" + folder_});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with("accuracy on 12 validation images of " + folder_ + ": top-1 ")) << run.out;
  EXPECT_TRUE(contains(run.err, "note: --data=" + folder_ + ": it has no test images; these are its validation images"))
      << run.err;
  addTests(5);
  for (const auto& [split, images] : {std::pair<std::string, int>{"auto", 5}, {"test", 5}, {"validation", 12}}) {
    const Texts arguments{"--model=resnet20", "--classes=2", "--weights=" + weights, "--data=" + folder_,
                          "--data-split=" + split};
    const auto predict = [&](Texts more) {
      more.insert(more.end(), arguments.begin(), arguments.end());
      return runForked(more);
    };
    const std::string name = split == "auto" ? "test" : split;
    const auto shown = predict({"predict"});
    EXPECT_TRUE(shown.out.starts_with(concat("accuracy on ", images, ' ', name, " images of ")))
        << shown.out << shown.err;
    EXPECT_FALSE(contains(shown.err, "it has no")) << shown.err;
    const auto json = nlohmann::json::parse(predict({"predict", "--json"}).out);
    EXPECT_EQ(json.at("data_split"), name);
    EXPECT_EQ(json.at("images").size(), static_cast<size_t>(images));
    const std::string out = concat(ownFolder(), "/f.npy");
    const auto features = nlohmann::json::parse(predict({"features", "--json", "--out=" + out}).out);
    EXPECT_EQ(features.at("data_split"), split == "auto" ? "training" : split);
    EXPECT_EQ(features.at("rows").size(), split == "test" ? 5U : 12U);
  }
}

TEST_F(DataCommand, ABadImageEndsARunOrIsBorne) {
  const std::string broken = breakImage();
  const auto inspected = runForked({"data", "inspect", folder_});
  EXPECT_EQ(inspected.code, data);
  EXPECT_TRUE(contains(inspected.out, "bad: " + broken + ": it starts neither like a JPEG nor like a PNG file"))
      << inspected.out;
  EXPECT_TRUE(contains(inspected.err, "1 of 12 images cannot be read")) << inspected.err;
  const auto failed = bench({});
  EXPECT_EQ(failed.code, data) << failed.err;
  EXPECT_TRUE(contains(failed.out + failed.err, broken + ": it starts neither")) << failed.out << failed.err;
  for (const auto& [policy, text] :
       {std::pair("skip", "the next ones took their place"), {"zero", "black ones took their place"}}) {
    const auto run = bench({concat("--bad-image=", policy)});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(contains(run.out, concat("1 image could not be read, ", text, ": ", broken))) << run.out;
  }
}

TEST_F(DataCommand, ManyBadImagesEndARun) {
  for (const auto& entry : fs::recursive_directory_iterator(folder_ + "/train")) {
    if (entry.is_regular_file()) std::ofstream(entry.path(), std::ios::binary) << "x";
  }
  const auto run = bench({"--bad-image=skip", "--max-bad=30"});
  EXPECT_EQ(run.code, data) << run.err;
  EXPECT_TRUE(contains(run.out + run.err, "more than 3 images cannot be read, as --max-bad allows; one is: "))
      << run.out << run.err;
}

TEST_F(DataCommand, AChainThatDoesNotFitIsRefused) {
  const auto run = runForked(benchArguments({"--augment=none"}));
  EXPECT_EQ(run.code, usage);
  EXPECT_TRUE(contains(run.err, "with --augment=none: images are of any size but pad takes none larger than 32x32"))
      << run.err;
  EXPECT_TRUE(contains(runForked(benchArguments({"--augment=flip:3"})).err,
                       "flip:3: its probability is '3', which must be a number from 0 to 1"));
  EXPECT_TRUE(contains(runForked(benchArguments({"--augment=imagenett"})).err, "did you mean 'imagenet'?"));
}

TEST(DataOptions, ThatWouldDoNothingAreRefused) {
  const auto refusal = [](const Texts& more) {
    Texts all{"bench", "--model=resnet20", "--replicas=1", "--steps=1"};
    all.insert(all.end(), more.begin(), more.end());
    const auto run = runForked(all);
    EXPECT_EQ(run.code, usage) << run.err;
    return run.err;
  };
  EXPECT_TRUE(contains(refusal({"--bad-image=skip"}), "--bad-image=skip is for image files; give them as --data"));
  EXPECT_TRUE(contains(refusal({"--normalization=caffe"}), "--normalization=caffe is for the images of --data"));
  EXPECT_TRUE(contains(refusal({"--max-bad=5"}), "--max-bad=5 needs --bad-image=skip or --bad-image=zero"));
}

}  // namespace
}  // namespace tandem

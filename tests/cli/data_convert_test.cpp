#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "bash_lines.h"
#include "support/idx_images.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

/// The checksum over images and labels by 'data inspect', or its whole text where there is none.
std::string sumOf(const std::string& path, const Texts& more = {}) {
  Texts arguments{"data", "inspect", path};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto run = runForked(arguments);
  EXPECT_EQ(run.code, 0) << run.err;
  const size_t at = run.out.find("sha256");
  return at == std::string::npos ? run.out : run.out.substr(at, 80);
}

/// An IDX pair of 50 training images and 20 test images, which have ten classes.
class DataConvert : public testing::Test {
 protected:
  void SetUp() override {
    idx_ = writeIdxImages(ownFolder() + "/idx", 50);
    writeIdxImages(ownFolder() + "/idx", 20, 0, "t10k");
  }

  Finished convert(const std::string& from, const std::string& to, const Texts& more = {}) const {
    Texts arguments{"data", "convert", from, at(to)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runForked(arguments);
  }
  static std::string at(const std::string& name) { return ownFolder() + "/" + name; }
  static nlohmann::ordered_json manifest(const std::string& name) {
    std::ifstream file(at(name) + "/tandem-data.json");
    return nlohmann::ordered_json::parse(file);
  }

  /// The first row of a table.
  static std::string firstImageOf(const std::string& table) {
    std::ifstream file(at(table));
    std::string line;
    std::getline(file, line), std::getline(file, line);
    return line;
  }

  std::string idx_;
};

TEST_F(DataConvert, WritesTheSplitsIntoEachContainer) {
  std::string files;
  for (const std::string to : {"folder", "webdataset", "tfrecord", "lmdb", "packed"}) {
    const auto run = convert(idx_, to, {"--to=" + to, "--samples=png"});
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(contains(run.out, at(to) + ", train: 50 images, sha256 of their sums ")) << run.out;
    EXPECT_TRUE(contains(run.out, at(to) + ", test: 20 images, sha256 of their sums ")) << run.out;
    EXPECT_FALSE(contains(run.out, ", val: ")) << "the test images are written once: " << run.out;
    const std::string sum = sumOf(at(to)) + sumOf(at(to), {"--data-split=test"});
    if (files.empty()) files = sum;
    EXPECT_EQ(sum, files) << to;
    EXPECT_EQ(manifest(to).at("options").at("to"), to);
    EXPECT_TRUE(manifest(to).at("complete"));
  }
  EXPECT_EQ(convert(idx_, "pixels").code, 0);
  EXPECT_EQ(sumOf(at("pixels")), sumOf(idx_)) << "as they are";
  EXPECT_EQ(sumOf(at("pixels"), {"--data-split=test"}), sumOf(idx_, {"--data-split=test"}));
}

TEST_F(DataConvert, WritesEachSplitByItsOwnWord) {
  ASSERT_EQ(convert(idx_, "three", {"--to=folder"}).code, 0);
  std::ofstream(at("three/val.csv")) << "file,label\n" << firstImageOf("three/train.csv") << '\n';
  const auto run = convert(at("three"), "packed");
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* part : {"packed, train: 50 images", "packed, val: 1 images", "packed, test: 20 images"}) {
    EXPECT_TRUE(contains(run.out, part)) << part << run.out;
  }
  for (const char* split : {"training", "validation", "test"}) {
    const Texts option{concat("--data-split=", split)};
    EXPECT_EQ(sumOf(at("packed"), option), sumOf(at("three"), option)) << split;
  }
  ASSERT_EQ(convert(idx_, "asked", {"--data-split=validation"}).code, 0);
  EXPECT_EQ(manifest("asked").at("splits").at(0).at("name"), "test") << "by the word of what it really has";
}

TEST_F(DataConvert, WritesImagesWithoutSplitsOnce) {
  ASSERT_EQ(convert(idx_, "val", {"--to=webdataset", "--data-split=test"}).code, 0);
  EXPECT_TRUE(fs::exists(at("val/test-00000-of-00001.tar")));
  ASSERT_EQ(convert(at("val"), "once").code, 0);
  EXPECT_EQ(manifest("once").at("splits").size(), 1U);
  fs::remove(idx_ + "/t10k-images-idx3-ubyte"), fs::remove(idx_ + "/t10k-labels-idx1-ubyte");
  ASSERT_EQ(convert(idx_, "training").code, 0);
  EXPECT_EQ(manifest("training").at("splits").size(), 1U);
  const auto run = convert(idx_, "x", {"--data-split=test"});
  expectOneLine(run, data, "holds only training images");
}

TEST_F(DataConvert, MakesPixelsOfOneSizeOfImageFiles) {
  const auto made = runForked({"data", "make", at("made"), "--images=12", "--classes=2", "--size=40x30"});
  ASSERT_EQ(made.code, 0) << made.err;
  ASSERT_EQ(convert(at("made"), "packed", {"--samples=pixels", "--size=24"}).code, 0);
  const auto inspected = runForked({"data", "inspect", at("packed")});
  for (const char* part : {"packed", "images    12", "height    24", "width     24"}) {
    EXPECT_TRUE(contains(inspected.out, part)) << part << inspected.out;
  }
  ASSERT_EQ(convert(at("made"), "small", {"--to=webdataset", "--samples=jpeg", "--size=24"}).code, 0);
  EXPECT_TRUE(contains(runForked({"data", "inspect", at("small")}).out, "height    24"));
}

TEST_F(DataConvert, WritesPixelsAsMnistAndCifarAreAndBack) {
  ASSERT_EQ(convert(idx_, "again", {"--to=idx"}).code, 0);
  EXPECT_EQ(sumOf(at("again")), sumOf(idx_));
  ASSERT_EQ(convert(idx_, "files", {"--to=webdataset"}).code, 0);
  const auto grey = convert(at("files"), "grey", {"--to=idx", "--samples=grey", "--size=28", "--classes=10"});
  ASSERT_EQ(grey.code, 0) << grey.err;
  for (const char* file : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte"}) {
    EXPECT_EQ(shell("cmp idx/" + std::string(file) + " grey/" + file).code, 0) << file << ": grey stays as it is";
  }
  ASSERT_EQ(convert(idx_, "cifar", {"--to=cifar", "--samples=pixels", "--size=32"}).code, 0);
  ASSERT_EQ(convert(idx_, "packed", {"--samples=pixels", "--size=32"}).code, 0);
  EXPECT_EQ(sumOf(at("cifar")), sumOf(at("packed")));
  EXPECT_EQ(sumOf(at("cifar"), {"--data-split=test"}), sumOf(at("packed"), {"--data-split=test"}));
  EXPECT_TRUE(contains(runForked({"data", "inspect", at("cifar")}).out, "cifar10"));
}

TEST_F(DataConvert, GoesOnWhereItWasInterrupted) {
  const Texts options{"--shard=8"};
  ASSERT_EQ(convert(idx_, "whole", options).code, 0);
  EXPECT_EQ(manifest("whole").at("splits").at(0).at("shards").size(), 7U);
  fs::rename(at("whole"), at("out.part"));
  auto json = manifest("out.part");
  json["complete"] = false;
  json["splits"][0]["shards"][3] = nullptr;
  std::ofstream(at("out.part") + "/tandem-data.json") << json;
  fs::remove(at("out.part/train-00003-of-00007.tandem"));
  expectOneLine(convert(idx_, "out", {"--shard=9"}), storage,
                "out.part' is there already, begun with other options: shard was '8', and is '9'");
  const auto run = convert(idx_, "out", options);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "out.part: goes on; 9 of 10 parts are there")) << run.out;
  EXPECT_EQ(sumOf(at("out")), sumOf(idx_));
  EXPECT_EQ(convert(idx_, "out", options).code, 0) << "it is complete";
  expectOneLine(convert(idx_, "out"), storage, "is there already, made otherwise: shard was '8', and is '4096'");
}

TEST_F(DataConvert, NoticesOtherImagesWhenItGoesOn) {
  ASSERT_EQ(convert(idx_, "out").code, 0);
  writeIdxImages(idx_, 51);
  expectOneLine(convert(idx_, "out"), storage, "train was '50 images, sha256 of three ");
}

TEST_F(DataConvert, EndsAtAnImageThatCannotBeReadOrLeavesItOut) {
  ASSERT_EQ(convert(idx_, "folder", {"--to=folder"}).code, 0);
  const std::string bad = at("folder") + "/train/class00003/00000013.png";
  std::ofstream(bad) << "<html>";
  expectOneLine(convert(at("folder"), "out"), data, bad + ": it starts neither like a JPEG nor like a PNG file");
  const auto run = convert(at("folder"), "out", {"--bad-image=skip"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "left out: " + bad)) << run.out;
  EXPECT_TRUE(contains(run.out, "1 image could not be read, left out")) << run.out;
  EXPECT_EQ(manifest("out").at("splits").at(0).at("skipped"), 1);
}

TEST_F(DataConvert, OnAFullDiskLeavesWhatItCanGoOnWith) {
  const auto shellWithLittleRoom = [](const std::string& size, const std::string& line) {
    return shell("mkdir -p full; exec unshare -rm bash -c \"mount -t tmpfs -o size=" + size + " none full && " + line +
                 "\"");
  };
  if (shellWithLittleRoom("64k", "true").code != 0) GTEST_SKIP() << "no file system can be mounted here";
  const std::string command = "$T data convert idx full/out --shard=10";
  const auto run = shellWithLittleRoom("64k", command + "; code=\\$?; ls full full/out.part >&2; exit \\$code");
  expectOneLine(run, storage, "No space left on device");
  EXPECT_TRUE(contains(run.err, "what is finished stays in 'full/out.part', and the same command goes on with it"))
      << run.err;
  EXPECT_TRUE(contains(run.err, "train-00003-of-00005.tandem")) << run.err;
  EXPECT_TRUE(contains(run.err, "full:\nout.part\n")) << "nothing has the name of what is whole: " << run.err;
  const auto again = shellWithLittleRoom("64k", command + "; mount -o remount,size=1m full; " + command);
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "parts are there")) << again.out;
}

TEST_F(DataConvert, ItsMistakesAreUsageErrors) {
  ASSERT_EQ(convert(idx_, "web", {"--to=webdataset"}).code, 0);
  fs::create_directories(at("flags"));
  fs::copy_file(std::string(TANDEM_TESTS_DIR) + "/golden/images/rgb.png", at("flags/a.png"));
  std::ofstream(at("flags/labels.csv")) << "file,cat,dog\na.png,1,1\n";
  struct Mistake {
    std::string from;
    Texts options;
    const char* text;
  };
  for (const Mistake& mistake :
       {Mistake{idx_,
                {"--to=zip"},
                "unknown --to 'zip'; valid: packed, webdataset, tfrecord, lmdb, folder, chestxray14, idx, cifar"},
        {idx_, {"--samples=gif"}, "unknown --samples 'gif'"},
        {idx_, {"--data-split=val"}, "unknown --data-split 'val'; valid: training, validation, test, all"},
        {idx_, {"--split=test"}, "--split"},
        {idx_, {"--bad-image=zero"}, "must be fail or skip"},
        {idx_, {"--size=-1"}, "must be a whole number from 0"},
        {idx_, {"--shard=0"}, "must be a whole number from 1"},
        {idx_,
         {"--to=tfrecord", "--samples=pixels"},
         "--to=tfrecord holds image files alone; use --to=packed or idx or cifar, or --samples=png or jpeg"},
        {idx_, {"--to=idx", "--samples=png"}, "--to=idx holds pixels alone; use --samples=pixels or grey, with --size"},
        {idx_, {"--to=idx", "--samples=pixels", "--size=9"}, "these are in colour; give --samples=grey"},
        {idx_, {"--to=cifar"}, "these are 28 x 28 and grey; give --samples=pixels --size=32"},
        {idx_, {"--to=chestxray14"}, "has no place for labels of one class per image; use packed"},
        {at("web"), {"--to=idx", "--classes=10"}, "holds pixels alone"},
        {at("web"), {"--to=idx", "--samples=grey", "--size=8"}, "does not say how many classes"},
        {at("flags"), {"--to=chestxray14", "--samples=jpeg"}, "--to=chestxray14 holds png files alone"},
        {at("flags"), {"--to=chestxray14"}, "alone, and the images have cat, dog; use packed or folder"},
        {at("flags"), {"--to=idx", "--samples=grey", "--size=8"}, "any of the classes per image; use packed"},
        {at("web"), {"--size=10"}, "image files stay as they are; give --samples=pixels, png or jpeg"},
        {at("web"), {"--samples=pixels"}, "image files have sizes of their own; give one for all by --size"},
        {at("web"), {"--to=folder"}, "does not say how many classes it has; give their number"},
        {at("flags"),
         {"--to=webdataset"},
         "has no place for labels of any of the classes per image; use packed or folder or chestxray14"}}) {
    SCOPED_TRACE(mistake.text);
    expectOneLine(convert(mistake.from, "x", mistake.options), usage, mistake.text);
  }
  EXPECT_EQ(runForked({"data", "convert", idx_}).code, usage);
  EXPECT_FALSE(fs::exists(at("x")) || fs::exists(at("x.part")));
  EXPECT_EQ(convert(at("web"), "folder", {"--to=folder", "--classes=10"}).code, 0);
  EXPECT_EQ(convert(at("flags"), "copy", {"--to=folder"}).code, 0);
  EXPECT_EQ(sumOf(at("copy")), sumOf(at("flags")));
}

TEST_F(DataConvert, HelpNamesContainersAndForms) {
  const auto run = runForked({"data", "--help"});
  for (const char* part :
       {"tandem data convert FROM TO", "--to=webdataset", "--samples=pixels", "--bad-image=fail|skip"}) {
    EXPECT_TRUE(contains(run.out, part)) << part << run.out;
  }
}

TEST_F(DataConvert, BenchBearsDamagedSamples) {
  ASSERT_EQ(convert(idx_, "packed").code, 0);
  std::fstream file(at("packed/train-00000-of-00001.tandem"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(100);
  file.put('x');
  file.close();
  const std::string bench =
      "exec $T bench --model=trivial --image-size=32 --data=packed --batch=50 --replicas=1 --repeats=1 --warmup=0 "
      "--steps=1 --allow-interference --verify=off ";
  const auto failed = shell(bench);
  EXPECT_EQ(failed.code, data) << failed.err;
  EXPECT_TRUE(contains(failed.out + failed.err, "sample 0 (from 0) at byte 16: its checksum differs")) << failed.err;
  const auto borne = shell(bench + "--bad-image=skip");
  EXPECT_EQ(borne.code, 0) << borne.err;
}

TEST(DataMake, WritesIntoEachContainer) {
  std::string files;
  for (const auto& [container, name] : {std::pair<std::string, std::string>{"folder", "labelled files"},
                                        {"packed", "packed"},
                                        {"tfrecord", "tfrecord"},
                                        {"lmdb", "lmdb"},
                                        {"webdataset", "webdataset"}}) {
    const std::string out = ownFolder() + "/" + container;
    const auto run =
        runForked({"data", "make", out, "--images=6", "--classes=2", "--size=9", "--container=" + container});
    ASSERT_EQ(run.code, 0) << run.err;
    const std::string sum = sumOf(out);
    if (files.empty()) files = sum;
    EXPECT_EQ(sum, files) << container;
    const auto inspected = runForked({"data", "inspect", out});
    EXPECT_TRUE(contains(inspected.out, "data set  " + name + "\n")) << inspected.out;
    EXPECT_TRUE(contains(inspected.out, "3 to 3 images each")) << inspected.out;
  }
}

TEST(DataMake, MakesThreeSplitsAndTakesNoImageTwice) {
  const std::string out = ownFolder() + "/x", idx = writeIdxImages(ownFolder() + "/idx", 50);
  writeIdxImages(idx, 20, 0, "t10k");
  const auto make = [&](const std::string& to, const std::string& images, const std::string& container) {
    return runForked({"data", "make", to, "--from=" + idx, "--images=" + images, "--container=" + container,
                      "--size=" + std::string(container == "folder" ? "9" : "64"), "--seed=3"});
  };
  const std::string too = "--from has 12 images for this split";
  expectOneLine(make(out, "30+8+13", "folder"), usage, too);
  for (const std::string container : {"folder", "chestxray14"}) {
    const std::string folder = out + container;
    const auto run = make(folder, "30+8+8", container);
    ASSERT_EQ(run.code, 0) << run.err;
    std::set<std::string> sums;
    for (const auto& [split, images] : {std::pair{"training", 30}, {"validation", 8}, {"test", 8}}) {
      const std::string wanted = std::string("--data-split=") + split;
      EXPECT_TRUE(contains(runForked({"data", "inspect", folder, wanted}).out, concat("images    ", images, "\n")));
      sums.insert(sumOf(folder, {wanted}));
    }
    EXPECT_EQ(sums.size(), 3U);
  }
  ASSERT_EQ(make(out + "all", "0+8+0", "folder").code, 0);
  EXPECT_TRUE(contains(runForked({"data", "inspect", out + "all", "--data-split=test"}).out, "images    12\n"));
}

TEST(DataMake, DrawsWhatItsFlagsSayAsChestXraysAre) {
  const std::string out = ownFolder() + "/x", idx = writeIdxImages(ownFolder() + "/idx", 50);
  writeIdxImages(idx, 20, 0, "t10k");
  const auto run =
      runForked({"data", "make", out, "--container=chestxray14", "--from=" + idx, "--images=30", "--size=64"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto inspected = runForked({"data", "inspect", out});
  for (const char* part : {"data set  chestxray14\n", "images    30\n", "14, any of the classes per image"}) {
    EXPECT_TRUE(contains(inspected.out, part)) << part << inspected.out;
  }
  const auto tests = runForked({"data", "inspect", out, "--data-split=test"});
  EXPECT_TRUE(contains(tests.out, "images    30\n")) << tests.out;
  EXPECT_NE(sumOf(out), sumOf(out, {"--data-split=test"}));
  EXPECT_TRUE(fs::exists(out + "/images/00000001_003.png"));
  ASSERT_EQ(runForked({"data", "convert", out, out + "2", "--to=chestxray14"}).code, 0);
  EXPECT_EQ(sumOf(out), sumOf(out + "2"));
  ASSERT_EQ(runForked({"data", "convert", out, out + "3"}).code, 0);
  EXPECT_EQ(sumOf(out), sumOf(out + "3")) << "packed";
  ASSERT_EQ(runForked({"data", "convert", out, out + "4", "--samples=jpeg", "--size=64"}).code, 0);
  expectOneLine(runForked({"data", "convert", out + "4", out + "5", "--to=chestxray14"}), usage,
                "it is a JPEG file, and png files alone have a place; give --samples=png with --size");
  EXPECT_FALSE(fs::exists(out + "5.part"));
}

TEST(DataMake, FlagsAreOfAnyNumber) {
  const std::string out = ownFolder() + "/x";
  ASSERT_EQ(runForked({"data", "make", out, "--labels=3", "--images=20", "--size=40x20"}).code, 0);
  const auto inspected = runForked({"data", "inspect", out});
  EXPECT_TRUE(contains(inspected.out, "3, any of the classes per image")) << inspected.out;
}

}  // namespace
}  // namespace tandem

#include "data/writer/write_dataset.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <map>

#include "base/catalog.h"
#include "data/dataset/memory_dataset.h"
#include "data/dataset/test_folder.h"
#include "data/loader/batch_maker.h"
#include "data/writer/sample_converter.h"
#include "formats/io/file.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr int64_t images = 500, side = 8, classes = 7;

/// 500 images whose order is not that of their classes.
std::shared_ptr<const Dataset> source() {
  DatasetInfo info;
  info.height = info.width = side, info.channels = 3, info.classes = classes;
  return syntheticDataset(images, info, 5);
}

NewSplit splitOf(const std::shared_ptr<const Dataset>& dataset, const char* name, const ImageEncoding* encoding) {
  const auto converter = std::make_shared<const SampleConverter>(dataset, Conversion{.encoding = encoding});
  return {.name = name, .images = dataset->size(), .info = converter->info(), .make = [converter](int64_t index) {
            return converter->make(index);
          }};
}

NewDataset newDataset(const std::string& path, std::string_view container) {
  const auto& entry = find(containers(), container, "container");
  return {.path = path,
          .container = &entry,
          .shardImages = 130,
          .options = {{"size", "8"}},
          .splits = {splitOf(source(), "train", &find(imageEncodings(), "png", "encoding"))}};
}

/// What a data set gives: the pixels of each image with its label, in order.
Bytes contentOf(const Dataset& dataset) {
  Bytes content, memory, label(labelBytes(*dataset.info().labels, dataset.info().classes));
  for (int64_t i = 0; i < dataset.size(); ++i) {
    const Sample sample = dataset.read(i, memory, label);
    const Bytes pixels =
        sample.encoded() ? decodeImage(sample.bytes).value().pixels : Bytes(sample.bytes.begin(), sample.bytes.end());
    content.insert(content.end(), pixels.begin(), pixels.end());
    content.insert(content.end(), label.begin(), label.end());
  }
  return content;
}

/// The files of a folder, by their paths in it.
std::map<std::string, Bytes> filesIn(const std::string& folder) {
  std::map<std::string, Bytes> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files.emplace(entry.path().lexically_relative(folder), readFile(entry.path(), 1 << 24));
  }
  return files;
}

std::string pathOf(const TestFolder& folder, std::string_view name) { return concat(folder.path(), '/', name); }

TEST(WriteDataset, EachContainerOfTheSameImagesGivesTheSameSamplesLabelsAndBatches) {
  const TestFolder folder;
  const auto wanted = source();
  const Bytes content = contentOf(*wanted);
  const auto batches = [](std::shared_ptr<const Dataset> dataset) {
    const BatchMaker maker(std::move(dataset),
                           {.globalBatch = 64,
                            .count = 64,
                            .height = side,
                            .width = side,
                            .seed = 3,
                            .augment = std::make_shared<Augmentation>(augmentationOf("center_crop+flip"))});
    return std::vector{maker.make(0), maker.make(9)};
  };
  const auto batchesWanted = batches(wanted);
  const auto expectSame = [&](const std::string& path, std::string_view what) {
    const std::shared_ptr<const Dataset> opened = openDataset(path, {.classes = classes});
    EXPECT_EQ(opened->info().classes, classes) << what;
    ASSERT_EQ(opened->size(), images) << what;
    EXPECT_EQ(contentOf(*opened), content) << what;
    const auto got = batches(opened);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(got[i].images.equal(batchesWanted[i].images) && got[i].labels.equal(batchesWanted[i].labels)) << what;
    }
  };
  for (const ContainerEntry& container : containers()) {
    writeDataset(newDataset(pathOf(folder, container.name), container.name));
    expectSame(pathOf(folder, container.name), container.name);
    if (!container.pixels) continue;
    NewDataset pixels = newDataset(pathOf(folder, "pixels"), container.name);
    pixels.splits = {splitOf(wanted, "train", nullptr)};
    writeDataset(pixels);
    expectSame(pathOf(folder, "pixels"), "pixels");
    ChannelSums sums;
    Bytes memory, label(8);
    for (int64_t i = 0; i < images; ++i) sums.add(wanted->read(i, memory, label).bytes, 3);
    EXPECT_EQ(openDataset(pathOf(folder, "pixels"))->info().normalization.mean,
              sums.normalization(images * side * side, 3).mean);
  }
}

TEST(WriteDataset, EachContainerIsWrittenFromEachOther) {
  const TestFolder folder;
  writeDataset(newDataset(pathOf(folder, "folder"), "folder"));
  const Bytes content = contentOf(*source());
  std::string from = pathOf(folder, "folder");
  for (const char* to : {"tfrecord", "webdataset", "packed", "folder"}) {
    const std::string path = concat(from, '-', to);
    NewDataset dataset = newDataset(path, to);
    dataset.splits = {splitOf(openDataset(from, {.classes = classes}), "train", nullptr)};
    writeDataset(dataset);
    EXPECT_EQ(contentOf(*openDataset(path, {.classes = classes})), content) << path;
    from = path;
  }
  EXPECT_EQ(filesIn(from).at("train.csv"), filesIn(pathOf(folder, "folder")).at("train.csv"));
}

class Interrupted : public testing::Test {
 protected:
  /// Images that are made until this one are written; then there is a failure that is no bad image.
  NewDataset until(int64_t end, std::string_view container) {
    NewDataset dataset = newDataset(pathOf(folder, "out"), container);
    const auto make = dataset.splits[0].make;
    dataset.splits[0].make = [this, make, end](int64_t index) {
      ++made;
      if (index >= end) throw StorageError("interrupted");
      return make(index);
    };
    return dataset;
  }

  TestFolder folder;
  std::atomic<int64_t> made = 0;
};

TEST_F(Interrupted, WritingGoesOnWithWhatIsMissing) {
  for (const ContainerEntry& container : containers()) {
    const std::string out = pathOf(folder, "out"), whole = pathOf(folder, "whole");
    EXPECT_NE(textOfFailure<StorageError>([&] {
                writeDataset(until(300, container.name));
              }).find("interrupted; what is finished stays in '" + out + ".part', and the same command goes on"),
              std::string::npos);
    EXPECT_FALSE(fs::exists(out)) << container.name;
    int64_t kept = 0, all = 0, last = 0, lastOf = 0;
    made = 0;
    const DataManifest manifest =
        writeDataset(until(images, container.name), {.resumed = [&](int64_t a, int64_t b) { kept = a, all = b; },
                                                     .progress = [&](int64_t a, int64_t b) { last = a, lastOf = b; }});
    EXPECT_EQ(kept, 2) << container.name << ": each shard has 130 images";
    EXPECT_EQ(all, 4);
    EXPECT_EQ(made, images - 260) << container.name;
    EXPECT_EQ(last, images);
    EXPECT_EQ(lastOf, images);
    EXPECT_TRUE(manifest.complete);
    writeDataset(newDataset(whole, container.name));
    EXPECT_EQ(filesIn(out), filesIn(whole)) << container.name;
    made = 0;
    writeDataset(until(0, container.name));
    EXPECT_EQ(made, 0) << "nothing is to be done";
    fs::remove_all(out), fs::remove_all(whole);
  }
}

TEST_F(Interrupted, WritingIsRefusedByOtherOptions) {
  const std::string out = pathOf(folder, "out");
  EXPECT_THROW(writeDataset(until(300, "packed")), StorageError);
  const auto refusal = [&](const NewDataset& dataset) {
    return textOfFailure<StorageError>([&] { writeDataset(dataset); });
  };
  NewDataset other = until(images, "packed");
  other.options = {{"size", "9"}};
  EXPECT_EQ(refusal(other), concat("'", out,
                                   ".part' is there already, begun with other options: size was '8', and is '9'; "
                                   "give another path, or remove it"));
  other.options = {{"size", "8"}, {"to", "x"}};
  EXPECT_NE(refusal(other).find("'to' was not given"), std::string::npos);
  other.options = {};
  EXPECT_NE(refusal(other).find("'size' was given"), std::string::npos);
  other = until(images, "packed");
  other.shardImages = 100;
  EXPECT_NE(refusal(other).find("it has other files"), std::string::npos);
  writeDataset(until(images, "packed"));
  other.options = {{"size", "9"}};
  EXPECT_NE(refusal(other).find("'" + out + "' is there already, made otherwise: size was '8'"), std::string::npos);
}

TEST_F(Interrupted, WritingMakesShardsAgainThatAreGone) {
  EXPECT_THROW(writeDataset(until(300, "packed")), StorageError);
  fs::remove(pathOf(folder, "out.part/train-00000-of-00004.tandem"));
  made = 0;
  writeDataset(until(images, "packed"));
  EXPECT_EQ(made, images - 130);
  EXPECT_EQ(contentOf(*openDataset(pathOf(folder, "out"))), contentOf(*source()));
}

TEST_F(Interrupted, WritingByAFullDiskGoesOn) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  getrlimit(RLIMIT_FSIZE, &usual);
  const rlimit small{.rlim_cur = 20'000, .rlim_max = usual.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  NewDataset dataset = newDataset(pathOf(folder, "out"), "packed");
  const std::string text = textOfFailure<StorageError>([&] { writeDataset(dataset); });
  setrlimit(RLIMIT_FSIZE, &usual);
  EXPECT_NE(text.find("cannot write"), std::string::npos) << text;
  EXPECT_EQ(filesIn(pathOf(folder, "out.part")).size(), 1U) << "the manifest";
  writeDataset(dataset);
  EXPECT_EQ(contentOf(*openDataset(pathOf(folder, "out"))), contentOf(*source()));
}

TEST(WriteDataset, RefusesWhatIsThere) {
  const TestFolder folder;
  const NewDataset dataset = newDataset(pathOf(folder, "out"), "packed");
  const auto refusal = [&] { return textOfFailure<StorageError>([&] { writeDataset(dataset); }); };
  folder.write("out/x", {1});
  EXPECT_NE(refusal().find("out' is there already; give another path, or remove it"), std::string::npos);
  fs::remove_all(dataset.path);
  folder.write("out.part/x", {1});
  EXPECT_NE(refusal().find("out.part' is there already and has no tandem-data.json"), std::string::npos);
  fs::remove_all(dataset.path + ".part");
  folder.write("out.part/tandem-data.json", {'{'});
  EXPECT_NE(textOfFailure<DataError>([&] { writeDataset(dataset); }).find("tandem-data.json: byte 0: it is no JSON"),
            std::string::npos);
  fs::remove_all(dataset.path + ".part");
  fs::create_directory(dataset.path + ".part");
  const int descriptor = ::open((dataset.path + ".part").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
  EXPECT_NE(refusal().find("another process writes to '"), std::string::npos);
  ::close(descriptor);
  writeDataset(dataset);
}

TEST(WriteDataset, LeavesOutWhatCannotBeReadOrEndsThere) {
  const TestFolder folder;
  NewDataset dataset = newDataset(pathOf(folder, "out"), "packed");
  const auto make = dataset.splits[0].make;
  dataset.splits[0].make = [make](int64_t index) {
    if (index == 3 || index == 200) throw DataError(concat("image ", index));
    return make(index);
  };
  EXPECT_EQ(textOfFailure<DataError>([&] { writeDataset(dataset); }), "image 3");
  dataset.skipBad = true;
  std::vector<std::string> skipped;
  const DataManifest manifest =
      writeDataset(dataset, {.skipped = [&](const std::string& text) { skipped.push_back(text); }});
  EXPECT_EQ(skipped, (std::vector<std::string>{"image 3", "image 200"}));
  EXPECT_EQ(manifest.splits.at(0).skipped(), 2);
  EXPECT_EQ(manifest.splits.at(0).images(), images - 2);
  EXPECT_EQ(openDataset(dataset.path)->size(), images - 2);
  dataset.path += "2";
  dataset.splits[0].make = [](int64_t) -> WrittenSample { throw DataError("bad"); };
  EXPECT_EQ(textOfFailure<DataError>([&] { writeDataset(dataset); }),
            "none of the 500 images for 'train' can be read; nothing is written");
}

TEST(WriteDataset, DoesNotKeepShardsThatLackImagesWhereNoneMayBeLeftOut) {
  const TestFolder folder;
  NewDataset dataset = newDataset(pathOf(folder, "out"), "packed");
  const auto make = dataset.splits[0].make;
  dataset.splits[0].make = [make](int64_t index) {
    if (index == 3) throw DataError("image 3");
    if (index == 499) throw StorageError("interrupted");
    return make(index);
  };
  dataset.skipBad = true;
  EXPECT_THROW(writeDataset(dataset), StorageError);
  dataset.skipBad = false;
  dataset.splits[0].make = make;
  writeDataset(dataset);
  EXPECT_EQ(openDataset(dataset.path)->size(), images);
}

/// Images in PNG with labels of one's own.
NewDataset labelled(const std::string& path, DatasetInfo info, const std::vector<Bytes>& labels) {
  const auto png = source();
  const auto converter = std::make_shared<const SampleConverter>(png, Conversion{.encoding = &imageEncodings().back()});
  info.height = info.width = info.channels = 0;
  const auto make = [converter, labels](int64_t index) {
    WrittenSample sample = converter->make(index);
    sample.label = labels.at(static_cast<size_t>(index));
    return sample;
  };
  return {.path = path,
          .container = &find(containers(), "folder", "container"),
          .shardImages = 2,
          .splits = {{.name = "train", .images = std::ssize(labels), .info = info, .make = make}}};
}

Bytes classLabel(int64_t label) {
  Bytes bytes(sizeof label);
  storeClass(label, bytes);
  return bytes;
}

TEST(Folder, KeepsNamesAndNumbersOfClasses) {
  const TestFolder folder;
  DatasetInfo info;
  info.classes = 3, info.classNames = {"cat", "dog, \"big\"", "owl"};
  writeDataset(labelled(pathOf(folder, "sorted"), info, {classLabel(1), classLabel(0), classLabel(1)}));
  const auto sorted = openDataset(pathOf(folder, "sorted"));
  EXPECT_EQ(sorted->info().classNames, info.classNames) << "also of those without an image";
  EXPECT_EQ(sorted->info().classes, 3);
  EXPECT_TRUE(sorted->nameOf(0).ends_with("/train/dog, \"big\"/00000000.png")) << sorted->nameOf(0);
  info.classNames = {"owl", "../cat", "dog"};
  writeDataset(labelled(pathOf(folder, "other"), info, {classLabel(1), classLabel(0), classLabel(2)}));
  const auto other = openDataset(pathOf(folder, "other"));
  EXPECT_EQ(other->info().classNames, info.classNames);
  EXPECT_TRUE(other->nameOf(0).ends_with("/train/class00001/00000000.png")) << other->nameOf(0);
  EXPECT_EQ(filesIn(pathOf(folder, "other")).size(), 3 + 3U) << "images, train.csv, classes.txt, tandem-data.json";
}

TEST(Folder, HasATableOfFlags) {
  const TestFolder folder;
  DatasetInfo info;
  info.labels = &find(labelKinds(), "flags", "labels");
  info.classes = 3, info.classNames = {"Mass", "Hernia", "Edema"};
  const std::vector<Bytes> labels{{0, 0, 0}, {1, 0, 1}, {0, 1, 0}};
  const auto expectLabels = [&](const std::string& path, const std::vector<std::string>& names) {
    writeDataset(labelled(path, info, labels));
    const auto opened = openDataset(path);
    EXPECT_EQ(opened->info().labels->name, "flags");
    EXPECT_EQ(opened->info().classNames, names);
    Bytes memory, label(3);
    for (size_t i = 0; i < labels.size(); ++i) {
      opened->read(static_cast<int64_t>(i), memory, label);
      EXPECT_EQ(label, labels[i]);
    }
  };
  expectLabels(pathOf(folder, "named"), info.classNames);
  info.classNames = {"a", "label", "file"};
  expectLabels(pathOf(folder, "columns"), {"class00000", "class00001", "class00002"});
}

}  // namespace
}  // namespace tandem

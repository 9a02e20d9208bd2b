#include "data/writer/write_dataset.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <span>

#include "base/catalog.h"
#include "data/dataset/memory_dataset.h"
#include "data/dataset/test_folder.h"
#include "data/loader/batch_maker.h"
#include "data/writer/sample_converter.h"
#include "data/writer/written_files.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr int64_t images = 500, usualSide = 8, usualClasses = 7;

/// What a container is written from where it does not hold the usual images.
struct Shape {
  std::string_view container;
  int64_t side = usualSide, classes = usualClasses;
  bool grey = false;
};
constexpr Shape shapes[] = {{.container = "idx", .grey = true},
                            {.container = "cifar", .side = 32, .classes = 10},
                            {.container = "chestxray14", .classes = 14}};

Shape shapeFor(std::string_view container) {
  const auto* const found = std::ranges::find(shapes, container, &Shape::container);
  return found == std::end(shapes) ? Shape{} : *found;
}

/// 500 images whose order is not that of their classes.
std::shared_ptr<const Dataset> source(const Shape& shape = {}, std::span<const std::string_view> flags = {}) {
  DatasetInfo info;
  info.height = info.width = shape.side, info.channels = 3, info.classes = shape.classes;
  if (!flags.empty()) info.labels = &find(labelKinds(), "flags", "labels");
  info.classNames = {flags.begin(), flags.end()};
  return syntheticDataset(images, info, 5);
}

NewSplit splitOf(const std::shared_ptr<const Dataset>& dataset, const char* name, const Conversion& conversion) {
  const auto converter = std::make_shared<const SampleConverter>(dataset, conversion);
  return {.name = name, .images = dataset->size(), .info = converter->info(), .make = [converter](int64_t index) {
            return converter->make(index);
          }};
}

NewDataset newDataset(const std::string& path, std::string_view container) {
  const auto& entry = find(containers(), container, "container");
  const Shape shape = shapeFor(container);
  Conversion conversion{.grey = shape.grey};
  if (entry.files) conversion.encoding = &find(imageEncodings(), "png", "encoding");
  NewDataset dataset{.path = path,
                     .container = &entry,
                     .shardImages = 130,
                     .options = {{"size", "8"}},
                     .splits = {splitOf(source(shape, entry.classes), "train", conversion)}};
  if (const std::string breach = containerBreach(entry, dataset.splits); !breach.empty()) {
    dataset.splits.push_back(dataset.splits.front());  // for a container that needs test images too
    dataset.splits.back().name = "test", dataset.splits.back().images = 33;
  }
  return dataset;
}

int64_t imagesOf(const NewDataset& dataset) {
  int64_t all = 0;
  for (const NewSplit& split : dataset.splits) all += split.images;
  return all;
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

/// The same of what is written.
Bytes contentOf(const NewSplit& split) {
  Bytes content;
  for (int64_t i = 0; i < split.images; ++i) {
    const WrittenSample sample = split.make(i);
    const Bytes pixels = sample.format != nullptr ? decodeImage(sample.bytes).value().pixels : sample.bytes;
    content.insert(content.end(), pixels.begin(), pixels.end());
    content.insert(content.end(), sample.label.begin(), sample.label.end());
  }
  return content;
}

std::vector<HostBatch> batchesOf(std::shared_ptr<const Dataset> dataset, int64_t input) {
  const BatchMaker maker(std::move(dataset),
                         {.globalBatch = 64,
                          .count = 64,
                          .height = input,
                          .width = input,
                          .seed = 3,
                          .augment = std::make_shared<Augmentation>(augmentationOf("center_crop+flip"))});
  return std::vector{maker.make(0), maker.make(9)};
}

/// REQUIRES: the data set is written. Compares its training images with what was written, and with packed ones.
void expectAsWritten(const NewDataset& dataset) {
  const std::string what = dataset.path;
  const NewSplit& split = dataset.splits.front();
  const std::shared_ptr<const Dataset> opened = openDataset(dataset.path, {.classes = split.info.classes});
  EXPECT_EQ(opened->info().classes, split.info.classes) << what;
  EXPECT_EQ(opened->info().labels, split.info.labels) << what;
  ASSERT_EQ(opened->size(), split.images) << what;
  EXPECT_EQ(contentOf(*opened), contentOf(split)) << what;
  NewDataset packed = dataset;
  packed.path += "-packed", packed.container = &find(containers(), "packed", "container");
  writeDataset(packed);
  const int64_t input = shapeFor(dataset.container->name).side;
  const auto got = batchesOf(opened, input), wanted = batchesOf(openDataset(packed.path), input);
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(got[i].images.equal(wanted[i].images) && got[i].labels.equal(wanted[i].labels)) << what;
  }
  for (const NewSplit& other : std::span(dataset.splits).subspan(1)) {
    EXPECT_EQ(contentOf(*openDataset(dataset.path, {.split = DataSplit::test})), contentOf(other)) << what;
  }
}

TEST(WriteDataset, EachContainerOfTheSameImagesGivesTheSameSamplesLabelsAndBatches) {
  const TestFolder folder;
  for (const ContainerEntry& container : containers()) {
    const NewDataset dataset = newDataset(pathOf(folder, container.name), container.name);
    writeDataset(dataset);
    expectAsWritten(dataset);
  }
}

TEST(WriteDataset, PixelsStayPixels) {
  const TestFolder folder;
  NewDataset pixels = newDataset(pathOf(folder, "pixels"), "packed");
  pixels.splits = {splitOf(source(), "train", {})};
  writeDataset(pixels);
  expectAsWritten(pixels);
  ChannelSums sums;
  Bytes memory, label(8);
  for (int64_t i = 0; i < images; ++i) sums.add(source()->read(i, memory, label).bytes, 3);
  EXPECT_EQ(openDataset(pixels.path)->info().normalization.mean,
            sums.normalization(images * usualSide * usualSide, 3).mean);
}

TEST(WriteDataset, EachContainerIsWrittenFromEachOther) {
  const TestFolder folder;
  writeDataset(newDataset(pathOf(folder, "folder"), "folder"));
  const Bytes content = contentOf(*source());
  std::string from = pathOf(folder, "folder");
  for (const char* to : {"tfrecord", "lmdb", "webdataset", "packed", "folder"}) {
    const std::string path = concat(from, '-', to);
    NewDataset dataset = newDataset(path, to);
    dataset.splits = {splitOf(openDataset(from, {.classes = usualClasses}), "train", {})};
    writeDataset(dataset);
    EXPECT_EQ(contentOf(*openDataset(path, {.classes = usualClasses})), content) << path;
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
    const NewDataset dataset = newDataset(whole, container.name);
    EXPECT_EQ(all, 3 + std::ssize(dataset.splits)) << container.name;
    EXPECT_EQ(made, images - 260) << container.name;
    EXPECT_EQ(last, imagesOf(dataset));
    EXPECT_EQ(lastOf, imagesOf(dataset));
    EXPECT_TRUE(manifest.complete);
    writeDataset(dataset);
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
  const rlimit small{.rlim_cur = 12'000, .rlim_max = usual.rlim_max};
  for (const ContainerEntry& container : containers()) {
    const NewDataset dataset = newDataset(pathOf(folder, "out"), container.name);
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string text = textOfFailure<StorageError>([&] { writeDataset(dataset); });
    setrlimit(RLIMIT_FSIZE, &usual);
    EXPECT_NE(text.find("cannot write"), std::string::npos) << container.name << text;
    EXPECT_FALSE(fs::exists(dataset.path)) << container.name;
    for (const auto& [name, bytes] : filesIn(dataset.path + ".part")) {
      EXPECT_NE(name.front(), '.') << name << " is not whole";
    }
    writeDataset(dataset);
    EXPECT_EQ(contentOf(*openDataset(dataset.path)), contentOf(dataset.splits.front())) << container.name;
    fs::remove_all(dataset.path);
  }
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

}  // namespace
}  // namespace tandem

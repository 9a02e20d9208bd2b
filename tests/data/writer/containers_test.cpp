#include <gtest/gtest.h>

#include <filesystem>

#include "base/catalog.h"
#include "base/error.h"
#include "data/dataset/chest_xray.h"
#include "data/writer/container.h"
#include "data/writer/sample_converter.h"
#include "data/writer/write_dataset.h"
#include "data/writer/written_files.h"
#include "formats/dataset/cifar.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

/// Images in PNG with labels of one's own.
NewDataset labelled(const std::string& path, DatasetInfo info, const std::vector<Bytes>& labels,
                    std::string_view container = "folder") {
  DatasetInfo small;
  small.height = small.width = 8, small.channels = 3, small.classes = 7;
  const std::shared_ptr<const Dataset> pixels = syntheticDataset(std::ssize(labels), small, 5);
  const auto converter =
      std::make_shared<const SampleConverter>(pixels, Conversion{.encoding = &imageEncodings().back()});
  info.height = info.width = info.channels = 0;
  const auto make = [converter, labels](int64_t index) {
    WrittenSample sample = converter->make(index);
    sample.label = labels.at(static_cast<size_t>(index));
    return sample;
  };
  return {.path = path,
          .container = &find(containers(), container, "container"),
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

/// 14 findings, in another order than that of ChestX-ray14.
DatasetInfo findingsInfo() {
  DatasetInfo info;
  info.labels = &find(labelKinds(), "flags", "labels"), info.classes = 14;
  info.classNames = {xrayFindings.rbegin(), xrayFindings.rend()};
  return info;
}

std::string textIn(const std::string& folder, const std::string& file) {
  const Bytes bytes = filesIn(folder).at(file);
  return {bytes.begin(), bytes.end()};
}

TEST(ChestXray14, HasTheTableOfTheSetAndPatientsInTheirSplits) {
  const TestFolder folder;
  std::vector<Bytes> labels(31, Bytes(14));
  labels[0][13] = labels[0][12] = 1, labels[5][0] = 1;
  NewDataset dataset = labelled(pathOf(folder, "x"), findingsInfo(), labels, "chestxray14");
  dataset.splits.push_back(dataset.splits.front());
  dataset.splits.push_back(dataset.splits.front());
  dataset.splits[1].name = "val", dataset.splits[1].images = 5, dataset.splits[2].name = "test";
  writeDataset(dataset);
  const std::string table = textIn(dataset.path, "Data_Entry_2017.csv");
  EXPECT_TRUE(
      table.starts_with("Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View "
                        "Position,OriginalImage[Width,Height],OriginalImagePixelSpacing[x,y],\n"
                        "00000001_000.png,Cardiomegaly|Atelectasis,0,1,,,,,,,,\n"
                        "00000001_001.png,No Finding,1,1,,,,,,,,\n"))
      << table;
  EXPECT_NE(table.find("00000002_001.png,Pneumothorax,1,2,"), std::string::npos);
  for (const DataSplitEntry& row : dataSplits()) {
    const auto opened = openDataset(dataset.path, {.split = row.split});
    const auto written = std::ranges::find(dataset.splits, row.written, &NewSplit::name);
    EXPECT_EQ(opened->info().split, row.split);
    EXPECT_EQ(opened->size(), written->images) << row.name;
  }
  EXPECT_EQ(filesIn(dataset.path).size(), 31 + 5 + 31 + 2U) << "images, the table, tandem-data.json";
}

TEST(ChestXray14, AnySizesOfSplitsAreGivenBack) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{1, 1}, {4, 90}, {90, 3}, {1, 30, 1}, {70, 10, 20}}) {
    const TestFolder folder;
    const std::vector<Bytes> labels(90, Bytes(14));
    NewDataset dataset = labelled(pathOf(folder, "x"), findingsInfo(), labels, "chestxray14");
    dataset.shardImages = 100;
    const auto names =
        sizes.size() == 2 ? std::vector<const char*>{"train", "val"} : std::vector<const char*>{"train", "val", "test"};
    dataset.splits.assign(sizes.size(), dataset.splits.front());
    for (size_t i = 0; i < sizes.size(); ++i) dataset.splits[i].name = names[i], dataset.splits[i].images = sizes[i];
    writeDataset(dataset);
    EXPECT_EQ(openDataset(dataset.path)->size(), sizes.front());
    EXPECT_EQ(openDataset(dataset.path, {.split = DataSplit::test})->size(), sizes.back());
    EXPECT_EQ(openDataset(dataset.path, {.split = DataSplit::validation})->size(), sizes[1])
        << "or the test images, which stand in for them";
  }
}

TEST(ChestXray14, IsRefusedWithoutItsLastPatient) {
  const TestFolder folder;
  NewDataset dataset = labelled(pathOf(folder, "x"), findingsInfo(), std::vector<Bytes>(5, Bytes(14)), "chestxray14");
  dataset.splits.push_back(dataset.splits.front());
  dataset.splits.back().name = "test", dataset.skipBad = true;
  const auto make = dataset.splits.front().make;
  dataset.splits.back().make = [make](int64_t index) {
    if (index == 4) throw DataError("bad");
    return make(index);
  };
  EXPECT_NE(textOfFailure<DataError>([&] { writeDataset(dataset); }).find("no image of the last patient, "),
            std::string::npos);
}

/// Grey or coloured pixels of one size.
NewSplit pixels(int64_t side, int64_t channels, int64_t classes, int64_t images = 10) {
  NewSplit split{.name = "train", .images = images};
  split.info.height = split.info.width = side, split.info.channels = channels, split.info.classes = classes;
  split.make = [=](int64_t index) {
    Bytes label(8);
    storeClass(index % classes, label);
    return WrittenSample{.bytes = Bytes(static_cast<size_t>(side * side * channels), static_cast<uint8_t>(index)),
                         .label = label,
                         .index = index};
  };
  return split;
}

NewDataset pixelsIn(const std::string& path, std::string_view container, std::vector<NewSplit> splits) {
  return {.path = path,
          .container = &find(containers(), container, "container"),
          .shardImages = 4,
          .splits = std::move(splits)};
}

std::vector<std::string> namesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : filesIn(folder)) names.push_back(concat(name, ' ', bytes.size()));
  std::erase_if(names, [](const std::string& name) { return name.starts_with("tandem-data.json"); });
  return names;
}

TEST(Cifar, HasTheFilesOfItsKind) {
  const TestFolder folder;
  NewSplit test = pixels(32, 3, 10, 3);
  test.name = "val";
  writeDataset(pixelsIn(pathOf(folder, "ten"), "cifar", {pixels(32, 3, 10, 11), test}));
  using Names = std::vector<std::string>;
  EXPECT_EQ(namesIn(pathOf(folder, "ten")),
            (Names{"batches.meta.txt 110", "data_batch_1.bin 9219", "data_batch_2.bin 9219", "data_batch_3.bin 9219",
                   "data_batch_4.bin 6146", "test_batch.bin 9219"}));
  NewSplit training = pixels(32, 3, 12, 13);
  test = pixels(32, 3, 12, 13);
  test.name = "test", training.info.classNames = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
  writeDataset(pixelsIn(pathOf(folder, "more"), "cifar", {training, test}));
  EXPECT_EQ(namesIn(pathOf(folder, "more")), (Names{"fine_label_names.txt 24", "test.bin 39962", "train.bin 39962"}));
  EXPECT_EQ(textIn(pathOf(folder, "more"), "fine_label_names.txt"), "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n");
  const auto opened = openDataset(pathOf(folder, "more"), {.split = DataSplit::test});
  EXPECT_EQ(opened->info().classes, 100);
  Bytes memory, label(8);
  opened->read(12, memory, label);
  EXPECT_EQ(label.front(), 0) << "12 of 12 classes";
  opened->read(11, memory, label);
  EXPECT_EQ(label.front(), 11);
}

TEST(Cifar, DoesNotWriteWhatWouldBeReadAsTheOtherKind) {
  const TestFolder folder;
  const CifarLayout& ten = cifarLayouts().front();
  NewDataset dataset = pixelsIn(pathOf(folder, "x"), "cifar", {pixels(32, 3, 12, ten.recordBytes() + 1)});
  dataset.shardImages = 4096, dataset.skipBad = true;
  const auto make = dataset.splits.front().make;
  dataset.splits.front().make = [make](int64_t index) {
    if (index == 7) throw DataError("image 7");
    return make(index);
  };
  EXPECT_NE(textOfFailure<DataError>([&] {
              writeDataset(dataset);
            }).find("would have a file of 3073 images, whose 9446402 bytes are read as one of CIFAR-10"),
            std::string::npos)
      << "one was left out";
}

TEST(Idx, HasTheFilesOfMnist) {
  const TestFolder folder;
  NewSplit test = pixels(28, 1, 10, 3);
  test.name = "test";
  writeDataset(pixelsIn(pathOf(folder, "x"), "idx", {pixels(28, 1, 10, 10), test}));
  EXPECT_EQ(namesIn(pathOf(folder, "x")),
            (std::vector<std::string>{"t10k-images-idx3-ubyte 2368", "t10k-labels-idx1-ubyte 11",
                                      "train-images-idx3-ubyte 7856", "train-labels-idx1-ubyte 18"}));
}

TEST(Containers, RefuseWhatTheyCannotHold) {
  const auto breach = [](std::string_view container, const std::vector<NewSplit>& splits) {
    return containerBreach(find(containers(), container, "container"), splits);
  };
  const auto named = [](NewSplit split, const char* name) {
    split.name = name;
    return split;
  };
  const NewSplit grey = pixels(28, 1, 10), colour = pixels(32, 3, 10);
  NewSplit findings{.name = "train", .images = 10, .info = findingsInfo()}, cold = findings, nameless = findings,
                                                                            many = findings;
  many.images = (1 << 20) - 9;
  cold.info.classNames[0] = "Cold", nameless.info.classNames = {};
  struct Row {
    const char* container;
    std::vector<NewSplit> splits;
    const char* text;
  };
  for (const Row& row :
       {Row{"idx", {grey, named(grey, "val")}, ""},
        {"idx", {named(grey, "val"), named(grey, "test")}, "has places for training images and one other split"},
        {"idx", {colour}, "holds grey pixels alone, and these are in colour; give --samples=grey"},
        {"idx", {pixels(28, 1, 257)}, "holds at most 256 classes, and there are 257; use packed"},
        {"idx", {pixels(1 << 15, 1, 10)}, "would have a file of 10 images of 32768 x 32768 pixels"},
        {"idx", {pixels(1 << 14, 1, 10, 17)}, "one of at most 4294967296 bytes is read, so give a smaller --size"},
        {"cifar", {colour, named(colour, "test")}, ""},
        {"cifar", {grey}, "these are 28 x 28 and grey; give --samples=pixels --size=32"},
        {"cifar", {pixels(32, 3, 101)}, "holds at most 100 classes, and there are 101; use packed"},
        {"cifar", {pixels(32, 3, 11, 3073)}, "bytes are read as one of CIFAR-10; give another number of images"},
        {"cifar",
         {pixels(32, 3, 10, 5 * 700'000)},
         "would have a file of 2151100000 bytes; one of at most 2147483648 is read, so give fewer"},
        {"cifar", {findings}, "has no place for labels of any of the classes per image; use packed or folder or"},
        {"lmdb", {findings}, "use packed or folder or chestxray14"},
        {"chestxray14", {findings, named(findings, "test")}, ""},
        {"chestxray14", {findings}, "there are not both training and test images"},
        {"chestxray14", {named(findings, "val"), named(findings, "test")}, "there are not both training and test"},
        {"chestxray14",
         {many, named(findings, "test")},
         "has a table of at most 1048576 images, and there are 1048577; use another container"},
        {"chestxray14", {cold, named(cold, "test")}, "alone, and the images have Cold, Pneumonia"},
        {"chestxray14", {nameless}, "and the images have none with names; use packed or folder"},
        {"chestxray14", {colour}, "has no place for labels of one class per image"}}) {
    const std::string text = breach(row.container, row.splits);
    EXPECT_EQ(text.empty(), row.text[0] == '\0') << row.container << ": " << text;
    EXPECT_NE(text.find(row.text), std::string::npos) << text;
  }
}

TEST(Folder, RefusesMoreFlagsThanATableIsReadWith) {
  NewSplit split{.name = "train", .images = 1};
  const auto breach = [&](const char* labels, int64_t classes) {
    split.info.labels = &find(labelKinds(), labels, "labels"), split.info.classes = classes;
    return containerBreach(find(containers(), "folder", "container"), {&split, 1});
  };
  EXPECT_EQ(breach("flags", 4096),
            "has a table with a column for each class, of which at most 4095 are read, and there are 4096; use packed");
  EXPECT_EQ(breach("class", 4096), "");
  EXPECT_EQ(breach("flags", 4095), "");
  const TestFolder folder;
  writeDataset(labelled(pathOf(folder, "x"), split.info, {Bytes(4095, 1)}));
  EXPECT_EQ(openDataset(pathOf(folder, "x"))->info().classes, 4095);
}

}  // namespace
}  // namespace tandem

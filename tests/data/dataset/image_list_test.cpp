#include "data/dataset/image_list.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/text.h"
#include "support/example_records.h"
#include "support/tar_writer.h"
#include "support/tests_folder.h"
#include "test_folder.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

/// A folder into which files are put by name; images are copies of rgb.png or rgb.jpg of tests/golden/images.
class ImageLists : public testing::Test {
 protected:
  void put(const std::string& name) const {
    const fs::path path = fs::path(tests.path()) / name;
    fs::create_directories(path.parent_path());
    const bool png = name.ends_with(".png");
    fs::copy_file(concat(testsFolder(), "/golden/images/rgb", png ? ".png" : ".jpg"), path);
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((fs::path(tests.path()) / name).parent_path());
    std::ofstream(fs::path(tests.path()) / name) << text;
  }
  std::string refusal(DataSplit split = DataSplit::training) const {
    try {
      probeDataset(tests.path(), split);
    } catch (const DataError& error) {
      return error.what();
    }
    return "opened";
  }

  TestFolder tests;
};

Texts namesOf(const Dataset& dataset, const std::string& folder) {
  Texts names;
  for (int64_t i = 0; i < dataset.size(); ++i) names.push_back(dataset.nameOf(i).substr(folder.size() + 1));
  return names;
}

std::vector<uint8_t> flagsOf(const Dataset& dataset, int64_t index) {
  std::vector<uint8_t> memory, label(labelBytes(*dataset.info().labels, dataset.info().classes));
  const Sample sample = dataset.read(index, memory, label);
  EXPECT_TRUE(sample.encoded());
  EXPECT_FALSE(sample.bytes.empty());
  return label;
}

std::vector<int64_t> classesOf(const Dataset& dataset) {
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    std::memcpy(&classes.emplace_back(), flagsOf(dataset, i).data(), sizeof(int64_t));
  }
  return classes;
}

TEST_F(ImageLists, ClassesOfNumbersMayBeNamedBesideATable) {
  put("a.png"), put("b.png");
  write("labels.csv", "file,label\na.png,2\nb.png,0\n");
  EXPECT_TRUE(openDataset(tests.path())->info().classNames.empty());
  write("classes.txt", "cat\r\ndog\r\nowl, barn\r\nfox");
  const auto images = openDataset(tests.path());
  EXPECT_EQ(images->info().classNames, (Texts{"cat", "dog", "owl, barn", "fox"}));
  EXPECT_EQ(images->info().classes, 4);
  EXPECT_EQ(classesOf(*images), (std::vector<int64_t>{2, 0}));
  write("classes.txt", "cat\ndog\n");
  EXPECT_EQ(refusal(), tests.path() +
                           "/labels.csv: it has labels up to 2, counted from 0, but classes.txt beside it "
                           "names 2 classes");
  for (const char* lines : {"cat\n\ndog\nowl\n", "cat\ndog\ncat\n", "cat\n\x01\nowl\n", ""}) {
    write("classes.txt", lines);
    EXPECT_EQ(refusal(), tests.path() + "/classes.txt: each line must be the name of one class, and no two equal");
  }
  write("labels.csv", "file,label\na.png,x\nb.png,y\n");
  EXPECT_EQ(openDataset(tests.path())->info().classNames, (Texts{"x", "y"})) << "names say it themselves";
}

TEST_F(ImageLists, AFolderForEachClassIsADataSet) {
  for (const char* name : {"dog/b.jpg", "dog/deep/er/a.PNG.png", "cat/z.jpeg", "cat/a.JPG"}) put(name);
  write("cat/notes.txt", "no image");
  write("README", "");
  const auto images = openDataset(tests.path());
  EXPECT_EQ(images->info().name, "image folder");
  EXPECT_EQ(images->info().classes, 2);
  EXPECT_TRUE(images->info().encoded());
  EXPECT_EQ(namesOf(*images, tests.path()), (Texts{"cat/a.JPG", "cat/z.jpeg", "dog/b.jpg", "dog/deep/er/a.PNG.png"}));
  EXPECT_EQ(classesOf(*images), (std::vector<int64_t>{0, 0, 1, 1}));
  EXPECT_EQ(probeDataset(tests.path()).images, 4);
  EXPECT_EQ(probeDataset(tests.path()).bytes(), 0) << "files are not kept in memory";
  EXPECT_EQ(openDataset(tests.path(), {.split = DataSplit::test})->size(), 4) << "without splits all are of each";
}

TEST_F(ImageLists, AFolderHasSplits) {
  for (const char* name : {"train/a/1.jpg", "train/b/2.jpg", "train/c/3.jpg", "val/c/4.jpg", "test/5.jpg"}) put(name);
  EXPECT_EQ(namesOf(*openDataset(tests.path()), tests.path()),
            (Texts{"train/a/1.jpg", "train/b/2.jpg", "train/c/3.jpg"}));
  const auto val = openDataset(tests.path(), {.split = DataSplit::test});
  EXPECT_EQ(namesOf(*val, tests.path()), Texts{"val/c/4.jpg"});
  EXPECT_EQ(classesOf(*val), std::vector<int64_t>{2});
  EXPECT_EQ(val->info().classes, 3);
}

TEST_F(ImageLists, AFolderIsRefusedByWhatIsWrong) {
  for (const char* name : {"train/a/1.jpg", "train/b/2.jpg", "val/d/4.jpg"}) put(name);
  EXPECT_EQ(refusal(DataSplit::test),
            concat("'", tests.path(), "/val/d' is a class that '", tests.path(), "/train' does not have"));
  fs::remove_all(tests.path() + "/val");
  EXPECT_NE(refusal(DataSplit::test).find("has no test images; put them into"), std::string::npos);
  fs::create_directories(tests.path() + "/train/c");
  EXPECT_NE(refusal().find("/train/c' is a class without images (.jpg, .jpeg, .png)"), std::string::npos) << refusal();
}

TEST_F(ImageLists, ImagesMayLieDeepBelowTheirClass) {
  std::string deepest = "cat/";
  for (int i = 0; i < 16; ++i) deepest += "d/";
  put(deepest + "1.jpg");
  EXPECT_EQ(namesOf(*openDataset(tests.path()), tests.path()), Texts{deepest + "1.jpg"});
}

TEST_F(ImageLists, ManyLoopsOfLinksWithoutAnImageEnd) {
  fs::create_directory(tests.path() + "/a");
  for (int i = 0; i < 9; ++i) fs::create_directory_symlink("..", concat(tests.path(), "/a/up", i));
  EXPECT_NE(refusal().find("holds no data set that is known"), std::string::npos) << refusal();
}

TEST_F(ImageLists, ALoopOfLinksEnds) {
  put("a/1.jpg");
  fs::create_directory_symlink("..", tests.path() + "/a/up");
  EXPECT_NE(refusal().find("is more than 16 folders deep"), std::string::npos) << refusal();
}

TEST_F(ImageLists, ACsvOfLabelsIsADataSet) {
  for (const char* name : {"x/1.jpg", "2.png", "3.jpg"}) put(name);
  write("labels.csv", "file,label\nx/1.jpg,dog\n2.png,cat\n3.jpg,dog\n");
  for (const std::string& path : {tests.path(), tests.path() + "/labels.csv"}) {
    const auto images = openDataset(path);
    EXPECT_EQ(images->info().name, "labelled files");
    EXPECT_EQ(images->info().classes, 2);
    EXPECT_EQ(namesOf(*images, tests.path()), (Texts{"x/1.jpg", "2.png", "3.jpg"}));
    EXPECT_EQ(classesOf(*images), (std::vector<int64_t>{1, 0, 1}));
  }
}

TEST_F(ImageLists, AJsonOfNumbersIsADataSetWithSplits) {
  for (const char* name : {"1.jpg", "2.jpg", "3.jpg"}) put(name);
  write("train.json", R"({"2.jpg": 4, "1.jpg": 0})");
  write("test.json", R"({"3.jpg": 3})");
  EXPECT_EQ(openDataset(tests.path())->info().classes, 5);
  EXPECT_EQ(classesOf(*openDataset(tests.path())), (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(classesOf(*openDataset(tests.path(), {.split = DataSplit::test})), std::vector<int64_t>{3});
}

TEST_F(ImageLists, ATableOfValidationImagesAloneHasItsOwnClasses) {
  put("val/a/1.jpg"), put("val/c/2.jpg");
  write("val.csv", "file,label\nval/c/2.jpg,2\nval/a/1.jpg,0\n");
  write("classes.txt", "a\nb\nc\n");
  const auto images = openDataset(tests.path(), {.split = DataSplit::test});
  EXPECT_EQ(images->info().name, "labelled files");
  EXPECT_EQ(images->info().classNames, (Texts{"a", "b", "c"}));
  EXPECT_EQ(classesOf(*images), (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(refusal(), concat("data folder '", tests.path(),
                              "' has no table of training images; name it train.csv or train.json, or ask for a split "
                              "that is there"));
  put("train/a/3.jpg"), put("train/c/4.jpg");
  EXPECT_EQ(openDataset(tests.path())->info().name, "image folder") << "the table is of something else";
  EXPECT_EQ(classesOf(*openDataset(tests.path(), {.split = DataSplit::validation})), (std::vector<int64_t>{0, 1}));
}

TEST_F(ImageLists, SeveralLabelsAreFlags) {
  for (const char* name : {"1.jpg", "2.jpg"}) put(name);
  write("labels.csv", "file,label\n1.jpg,b|c\n2.jpg,a\n");
  const auto images = openDataset(tests.path());
  EXPECT_EQ(images->info().labels->name, "flags");
  EXPECT_EQ(flagsOf(*images, 0), (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_EQ(flagsOf(*images, 1), (std::vector<uint8_t>{1, 0, 0}));
}

TEST_F(ImageLists, SeveralLabelsOfTooManyClassesAreRefusedBeforeTheyTakeMemory) {
  std::string rows = "file,label\na.jpg,0|999999\n";
  for (int i = 1; i < 4295; ++i) rows += "b.jpg,0\n";
  write("labels.csv", rows);
  EXPECT_EQ(refusal(), tests.path() +
                           "/labels.csv: any of 1000000 classes for each of 4295 files take 4295000000 bytes; the "
                           "limit is 4294967296, so give a smaller table, or number the classes from 0 without gaps");
}

TEST_F(ImageLists, ATableIsRefusedByItsLine) {
  put("1.jpg");
  const std::string csv = tests.path() + "/labels.csv";
  const auto of = [&](const std::string& rows) {
    write("labels.csv", "file,label\n" + rows);
    return refusal();
  };
  EXPECT_EQ(of("1.jpg,0\n2.jpg,1\n"), concat(csv, ": line 3: '2.jpg' is missing: ", tests.path(), "/2.jpg"));
  EXPECT_EQ(of("../1.jpg,0\n"),
            concat(csv, ": line 2: '../1.jpg' leaves the folder of the table; a path is relative and without '..'"));
  EXPECT_EQ(of("/etc/passwd,0\n"),
            concat(csv, ": line 2: '/etc/passwd' leaves the folder of the table; a path is relative and without '..'"));
  EXPECT_EQ(of("1.jpg,-1\n"), concat(csv, ": line 2: '1.jpg' has the label -1, which must be from 0 to 999999"));
  EXPECT_EQ(of("1.jpg,99999999\n"),
            concat(csv, ": line 2: '1.jpg' has the label 99999999, which must be from 0 to 999999"));
  EXPECT_EQ(of(",1\n"), concat(csv, ": line 2: '' is an empty file name"));
  EXPECT_EQ(of(""), csv + ": it names no file");
  EXPECT_EQ(of("1.jpg\n"), csv + ": line 2 has 1 cells, the first line 2; all must have as many");
}

TEST_F(ImageLists, ATestLabelMustBeOneOfTraining) {
  for (const char* name : {"1.jpg", "2.jpg"}) put(name);
  write("train.csv", "file,label\n1.jpg,a\n");
  write("test.csv", "file,label\n2.jpg,b\n");
  EXPECT_NE(refusal(DataSplit::test).find("line 2: '2.jpg' has the label 'b', which no training image has"),
            std::string::npos);
}

/// As the table of the National Institutes of Health.
constexpr const char* xrayColumns =
    "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position,OriginalImage[Width,"
    "Height],OriginalImagePixelSpacing[x,y]\n";

TEST_F(ImageLists, ChestXraysAreSplitByPatient) {
  std::string rows = "Image Index,Finding Labels,Follow-up #,Patient ID\n";
  for (int patient = 1; patient <= 10; ++patient) {
    const std::string name = concat(patient < 10 ? "0000000" : "000000", patient, "_000.png");
    put(concat("images_00", 1 + patient % 2, "/images/", name));
    rows += concat(name, patient == 1 ? ",Cardiomegaly|Hernia," : ",No Finding,", "0,", patient, "\n");
  }
  write("Data_Entry_2017.csv", rows);
  const auto training = openDataset(tests.path()), test = openDataset(tests.path(), {.split = DataSplit::test});
  EXPECT_EQ(training->info().name, "chestxray14");
  EXPECT_EQ(training->info().classes, 14);
  EXPECT_EQ(training->size(), 7);
  EXPECT_EQ(test->size(), 2);
  const auto validation = openDataset(tests.path(), {.split = DataSplit::validation});
  EXPECT_EQ(namesOf(*validation, tests.path()), Texts{"images_001/images/00000008_000.png"});
  EXPECT_EQ(validation->info().split, DataSplit::validation);
  EXPECT_EQ(flagsOf(*training, 0), (std::vector<uint8_t>{0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(flagsOf(*training, 1), std::vector<uint8_t>(14));
  EXPECT_EQ(namesOf(*test, tests.path()).front(), "images_002/images/00000009_000.png");
}

TEST_F(ImageLists, ChestXraysAreRefusedByTheirLine) {
  put("images/1.png");
  const auto of = [&](const std::string& row) {
    write("Data_Entry_2017_v2020.csv", std::string("Image Index,Finding Labels,Patient ID\n") + row);
    const std::string text = refusal(DataSplit::test);  // the only patient is the last one
    return text.substr(std::min(text.size(), text.find(".csv: ") + 6));
  };
  EXPECT_EQ(of("2.png,No Finding,1\n"),
            concat("line 2: image '2.png' is missing; unpack all archives of images into ", tests.path()));
  EXPECT_EQ(of("1.png,No Finding,x\n"), "line 2: 'x' is no number of a patient");
  EXPECT_NE(of("1.png,Cold,1\n").find("line 2: 'Cold' is none of the 14 findings; these are Atelectasis, "),
            std::string::npos);
  write("Data_Entry_2017_v2020.csv", xrayColumns);
  EXPECT_NE(refusal().find("it has no image of this split"), std::string::npos) << refusal();
}

TEST_F(ImageLists, AFileThatIsGoneIsNamed) {
  put("a/1.jpg");
  const auto images = openDataset(tests.path());
  fs::remove(tests.path() + "/a/1.jpg");
  std::vector<uint8_t> memory, label(sizeof(int64_t));
  try {
    images->read(0, memory, label);
    ADD_FAILURE() << "read";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find(tests.path() + "/a/1.jpg"), std::string::npos) << error.what();
  }
}

TEST_F(ImageLists, TheNormalizationIsThatOfImageNetOrTheGivenOne) {
  put("a/1.jpg");
  EXPECT_NEAR(openDataset(tests.path())->info().normalization.mean[0], 123.675, 1e-3);
  const Normalization given{{1, 2, 3}, {4, 5, 6}};
  EXPECT_EQ(openDataset(tests.path(), {.normalization = &given})->info().normalization.mean, given.mean);
}

TEST_F(ImageLists, TfRecordsAreADataSetWithSplits) {
  const auto image = [](const char* name) {
    std::ifstream file(concat(testsFolder(), "/golden/images/", name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto record = [&](const char* name, uint64_t label) {
    return tfrecordOf(records::imageNetExample(image(name), label));
  };
  write("train-00001-of-00002", record("rgb.png", 3));
  write("train-00000-of-00002", record("rgb.jpg", 1) + record("grey.jpg", 2));
  write("validation-00000-of-00001", record("rgb.jpg", 2));
  const auto training = openDataset(tests.path(), {.classes = 10});
  EXPECT_EQ(training->info().name, "tfrecord");
  EXPECT_EQ(training->info().classes, 10);
  EXPECT_EQ(classesOf(*training), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(training->nameOf(2), tests.path() + "/train-00001-of-00002, record 0 (from 0)");
  EXPECT_EQ(classesOf(*openDataset(tests.path(), {.split = DataSplit::test})), std::vector<int64_t>{1});
  EXPECT_EQ(probeDataset(tests.path()).images, 3);
  write("train-00001-of-00002", "no record at all");
  EXPECT_NE(refusal().find("/train-00001-of-00002: record 0 (from 0) at byte 0: the checksum of its length differs"),
            std::string::npos)
      << refusal();
}

TEST_F(ImageLists, WebDatasetIsADataSetWithSplits) {
  const auto image = [](const char* name) {
    std::ifstream file(concat(testsFolder(), "/golden/images/", name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto writeShard = [&](const std::string& name, const std::vector<std::pair<std::string, std::string>>& files) {
    const TarBytes bytes = tarOf(files);
    write(name, {bytes.begin(), bytes.end()});
  };
  writeShard("train-0001.tar", {{"c.png", image("rgb.png")}, {"c.json", R"({"label": 4})"}});
  writeShard("train-0000.tar",
             {{"a.cls", "2"}, {"a.jpg", image("rgb.jpg")}, {"b.jpg", image("grey.jpg")}, {"b.cls", "0"}});
  writeShard("val-0000.tar", {{"d.jpg", image("rgb.jpg")}, {"d.cls", "1"}});
  const auto training = openDataset(tests.path(), {.classes = 10});
  EXPECT_EQ(training->info().name, "webdataset");
  EXPECT_EQ(training->info().classes, 10);
  EXPECT_EQ(classesOf(*training), (std::vector<int64_t>{2, 0, 4}));
  EXPECT_EQ(training->nameOf(1), tests.path() + "/train-0000.tar, sample 1 (from 0) at byte " +
                                     std::to_string(4 * 512 + (image("rgb.jpg").size() + 511) / 512 * 512));
  EXPECT_EQ(classesOf(*openDataset(tests.path(), {.split = DataSplit::test})), std::vector<int64_t>{1});
  EXPECT_EQ(probeDataset(tests.path()).images, 3);

  const auto readRefusal = [&](const std::vector<std::pair<std::string, std::string>>& files) {
    writeShard("train-0001.tar", files);
    const auto images = openDataset(tests.path());
    std::vector<uint8_t> memory, label(sizeof(int64_t));
    try {
      images->read(2, memory, label);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  EXPECT_NE(readRefusal({{"c.cls", "1"}}).find("it has no image (.jpg, .jpeg or .png)"), std::string::npos);
  EXPECT_NE(readRefusal({{"c.png", image("rgb.png")}}).find("it has no label (.cls, .class or .json)"),
            std::string::npos);
  EXPECT_NE(readRefusal({{"c.png", "x"}, {"c.cls", "x"}}).find("which must be a number from 0"), std::string::npos);
  write("train-0001.tar", "no archive");
  EXPECT_NE(refusal().find("/train-0001.tar: byte 0: the archive ends within a header"), std::string::npos)
      << refusal();
  put("a/1.jpg");
  EXPECT_EQ(openDataset(tests.path())->info().name, "image folder") << "the archives are what it was unpacked from";
}

TEST(ImageFiles, HaveNoLabels) {
  const auto files = imageFiles({"a.jpg", "b.png"});
  EXPECT_EQ(files->size(), 2);
  EXPECT_EQ(files->nameOf(1), "b.png");
  EXPECT_TRUE(files->info().encoded());
}

}  // namespace
}  // namespace tandem

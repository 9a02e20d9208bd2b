#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset/dataset.h"

namespace tandem {

/// Many short texts in one piece of memory: the names of millions of files.
class TextList {
 public:
  void add(std::string_view text) { text_ += text, ends_.push_back(text_.size()); }
  int64_t size() const { return std::ssize(ends_); }
  std::string_view at(int64_t index) const {
    const auto i = static_cast<size_t>(index);
    const size_t begin = i == 0 ? 0 : ends_.at(i - 1);
    return std::string_view(text_).substr(begin, ends_.at(i) - begin);
  }

 private:
  std::string text_;
  std::vector<size_t> ends_;
};

/// Image files with their labels.
struct ImageList {
  DatasetInfo info;
  std::string folder;  ///< of the files, with a slash at its end; empty: files have whole paths
  TextList files;
  std::vector<uint8_t> labels;  ///< [N, labelBytes()]

  /// REQUIRES: info has the classes and the kind of labels.
  void addClass(std::string_view file, int64_t label);
};

/// A data set that reads a file for each image, normalised in this way; null: by usualNormalization().
std::unique_ptr<Dataset> openImageList(std::shared_ptr<const ImageList> list,
                                       const Normalization* normalization = nullptr);

/// Image files without labels: they are -1.
std::unique_ptr<Dataset> imageFiles(const std::vector<std::string>& paths,
                                    const Normalization* normalization = nullptr);

/// Whether a file name ends as those of images that are read: .jpg, .jpeg or .png, in any case.
bool isImageName(std::string_view name);

/// A folder with one folder for each class, in which the images lie at any depth, as torchvision's ImageFolder. Classes
/// are numbered by name. There may be a folder for each split instead, by its words in the catalog. Without any all
/// images are of each split. Without one of training images those of the others have their own classes. None: there is
/// no such folder. Throws DataError for a class without images, or one that the training images lack; MissingSplit.
std::optional<ImageList> listImageFolder(const std::string& path, DataSplit split);

/// The file beside a table of labels that names the classes, in the order of their numbers.
constexpr const char* classesFileName = "classes.txt";

/// A table of labels: PATH.csv or PATH.json, or in a folder labels, or the word of a split, with these endings. Files
/// are relative to the table. A CSV has a column file (image, filename, path) and one of label (class), or a column of
/// 0 and 1 for each class. A JSON file is an object {file: label}. A label is a number, a name, or several of either:
/// between bars in a CSV, a list in JSON. Where all are numbers, classes.txt beside the table may name the classes, a
/// line for each. Without a table of training images those of the others have their own classes, unless something else
/// in the folder is named as training images. None: there is no table. Throws DataError that names the line;
/// MissingSplit.
std::optional<ImageList> listLabelledFiles(const std::string& path, DataSplit split);

/// ChestX-ray14: Data_Entry_2017.csv with the images beside it, in images/ or in images_001/images/ and so on. Splits
/// are by patient: seven, one and two tenths of the patients in order. None: the folder is another one.
std::optional<ImageList> listChestXray(const std::string& path, DataSplit split);

}  // namespace tandem

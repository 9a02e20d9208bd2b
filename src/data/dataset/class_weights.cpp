#include "data/dataset/class_weights.h"

#include <ATen/ops/tensor.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

constexpr uint64_t largestFile = 1 << 24;

/// Images, and how many of them have each class.
struct Counts {
  int64_t images = 0;
  std::vector<int64_t> ofClass;
};

/// A label that cannot be read is no reason to end: --bad-image says what becomes of its image.
bool hasLabel(const Dataset& images, int64_t index, std::span<uint8_t> label) {
  try {
    images.readLabel(index, label);
    return true;
  } catch (const DataError&) {
    return false;
  }
}

Counts countsOf(const Dataset& images) {
  const DatasetInfo& info = images.info();
  Counts counts{.ofClass = std::vector<int64_t>(static_cast<size_t>(info.classes))};
  std::vector<uint8_t> label(labelBytes(*info.labels, info.classes));
  for (int64_t i = 0; i < images.size(); ++i) {
    if (!hasLabel(images, i, label)) continue;
    const std::string breach = info.labels->breach(label, info.classes);
    if (!breach.empty()) throw DataError(concat(images.nameOf(i), ": ", breach, "; check the data, or --classes"));
    ++counts.images;
    for (const int64_t of : info.labels->classesIn(label)) ++counts.ofClass[static_cast<size_t>(of)];
  }
  return counts;
}

}  // namespace

at::Tensor balancedClassWeights(const Dataset& images, int64_t classes) {
  check(!images.info().labelsInside, "balancedClassWeights: labels that are read with their images");
  const Counts counts = countsOf(images);
  const auto all = static_cast<float>(counts.images), counted = static_cast<float>(counts.ofClass.size());
  const bool oneClass = images.info().labels->isOneClass();
  std::vector<float> weights;
  for (const int64_t count : counts.ofClass) {
    const auto own = static_cast<float>(count);
    weights.push_back(count == 0 ? 1 : oneClass ? all / (counted * own) : (all - own) / own);
  }
  weights.resize(static_cast<size_t>(classes), 1);
  return at::tensor(weights);
}

at::Tensor classWeightsIn(const std::string& path, int64_t classes) {
  const auto bytes = readFile(path, largestFile);
  const std::string text(bytes.begin(), bytes.end());
  std::vector<float> weights;
  for (const std::string& line : split(text, "\n")) {
    if (line.empty()) continue;
    const auto weight = numberIn<float>(line);
    if (!weight || !std::isfinite(*weight) || *weight <= 0) {
      throw DataError(concat("--class-weights=", path, ": line ", weights.size() + 1, " is '", escaped(line),
                             "', and must be a number above 0"));
    }
    weights.push_back(*weight);
  }
  if (std::ssize(weights) != classes) {
    throw DataError(concat("--class-weights=", path, " has ", weights.size(), " lines, and there are ", classes,
                           " classes; it must have a weight for each"));
  }
  return at::tensor(weights);
}

}  // namespace tandem

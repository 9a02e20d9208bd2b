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

std::vector<int64_t> countsOf(const Dataset& images) {
  const DatasetInfo& info = images.info();
  std::vector<int64_t> counts(static_cast<size_t>(info.classes));
  std::vector<uint8_t> memory, label(labelBytes(*info.labels, info.classes));
  for (int64_t i = 0; i < images.size(); ++i) {
    images.read(i, memory, label);
    for (const int64_t of : info.labels->classesIn(label)) ++counts.at(static_cast<size_t>(of));
  }
  return counts;
}

}  // namespace

at::Tensor balancedClassWeights(const Dataset& images) {
  if (images.info().readsFiles()) {
    throw UsageError(concat("--class-weights=balanced: the labels of a data set '", images.info().name,
                            "' stand beside files that would all be read; give a file with the weights"));
  }
  const std::vector<int64_t> counts = countsOf(images);
  const auto all = static_cast<float>(images.size()), classes = static_cast<float>(counts.size());
  const bool oneClass = images.info().labels->isOneClass();
  std::vector<float> weights;
  for (const int64_t count : counts) {
    const auto own = static_cast<float>(count);
    weights.push_back(count == 0 ? 1 : oneClass ? all / (classes * own) : (all - own) / own);
  }
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

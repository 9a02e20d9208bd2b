#include "data/dataset/labels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "kernels/loss/losses.h"

namespace tandem {
namespace {

std::vector<int64_t> oneNumber(int64_t) { return {}; }
std::vector<int64_t> onePerClass(int64_t classes) { return {classes}; }
std::vector<int64_t> boxesOfImage(int64_t) { return {multiboxObjects, multiboxNumbers}; }

void drawClass(CounterRandom& random, int64_t classes, std::span<uint8_t> out) {
  storeClass(static_cast<int64_t>(random.below(static_cast<uint64_t>(classes))), out);
}

void drawFlags(CounterRandom& random, int64_t, std::span<uint8_t> out) {
  for (uint8_t& flag : out) flag = static_cast<uint8_t>(random.below(2));
}

/// Uniform in [0, 1).
float fraction(CounterRandom& random) { return static_cast<float>(random.below(1 << 24)) * 0x1p-24F; }

void drawBoxes(CounterRandom& random, int64_t classes, std::span<uint8_t> out) {
  std::array<float, multiboxObjects * multiboxNumbers> values{};
  const uint64_t objects = 1 + random.below(multiboxObjects);
  for (uint64_t object = 0; object < objects; ++object) {
    const auto kind = static_cast<float>(1 + random.below(static_cast<uint64_t>(classes - 1)));
    const float width = 0.1F + 0.5F * fraction(random), height = 0.1F + 0.5F * fraction(random);
    const float left = (1 - width) * fraction(random), top = (1 - height) * fraction(random);
    const std::array box{kind, left, top, left + width, top + height};
    std::copy(box.begin(), box.end(), values.begin() + static_cast<std::ptrdiff_t>(object) * multiboxNumbers);
  }
  check(out.size() == sizeof values, "boxes are stored as float");
  std::memcpy(out.data(), values.data(), sizeof values);
}

int64_t classIn(std::span<const uint8_t> label) {
  int64_t number = 0;
  check(label.size() == sizeof number, "a class is stored as int64");
  std::memcpy(&number, label.data(), sizeof number);
  return number;
}

std::string classBreach(std::span<const uint8_t> label, int64_t classes) {
  const int64_t number = classIn(label);
  if (number >= 0 && number < classes) return {};
  return concat("its label is ", number, ", of ", classes, " classes it must be from 0 to ", classes - 1);
}

std::string flagsBreach(std::span<const uint8_t> label, int64_t) {
  const auto bad = std::ranges::find_if(label, [](uint8_t flag) { return flag > 1; });
  if (bad == label.end()) return {};
  return concat("its label of class ", bad - label.begin(), " is ", int{*bad}, ", it must be 0 or 1");
}

using Boxes = std::array<float, multiboxObjects * multiboxNumbers>;

Boxes boxesIn(std::span<const uint8_t> label) {
  Boxes values{};
  check(label.size() == sizeof values, "boxes are stored as float");
  std::memcpy(values.data(), label.data(), sizeof values);
  return values;
}

std::string boxesBreach(std::span<const uint8_t> label, int64_t classes) {
  const Boxes values = boxesIn(label);
  for (size_t object = 0; object < values.size(); object += multiboxNumbers) {
    const float kind = values[object], left = values[object + 1], top = values[object + 2];
    const bool isClass = kind >= 0 && kind < static_cast<float>(classes) && kind == std::floor(kind);
    const bool isBox = std::isfinite(left) && std::isfinite(top) && std::isfinite(values[object + 3]) &&
                       std::isfinite(values[object + 4]) && values[object + 3] > left && values[object + 4] > top;
    if (isClass && (kind == 0 || isBox)) continue;
    return concat("its box ", object / multiboxNumbers, " is of class ", kind, ", which must be from 1 to ",
                  classes - 1, ", with right and bottom above left and top");
  }
  return {};
}

std::vector<int64_t> theClass(std::span<const uint8_t> label) { return {classIn(label)}; }

std::vector<int64_t> flaggedClasses(std::span<const uint8_t> label) {
  std::vector<int64_t> classes;
  for (size_t i = 0; i < label.size(); ++i) {
    if (label[i] != 0) classes.push_back(static_cast<int64_t>(i));
  }
  return classes;
}

std::vector<int64_t> classesOfBoxes(std::span<const uint8_t> label) {
  const Boxes values = boxesIn(label);
  std::vector<int64_t> classes;
  for (size_t object = 0; object < values.size(); object += multiboxNumbers) {
    if (values[object] > 0 && values[object] < 0x1p31F) classes.push_back(static_cast<int64_t>(values[object]));
  }
  return classes;
}

constexpr std::array catalog{
    LabelKind{"class", "one class per image", at::kLong, oneNumber, drawClass, classBreach, theClass},
    LabelKind{"flags", "any of the classes per image", at::kByte, onePerClass, drawFlags, flagsBreach, flaggedClasses},
    LabelKind{"boxes", "boxes of classes in each image", at::kFloat, boxesOfImage, drawBoxes, boxesBreach,
              classesOfBoxes, false},
};

}  // namespace

std::span<const LabelKind> labelKinds() { return catalog; }

size_t labelBytes(const LabelKind& kind, int64_t classes) {
  size_t bytes = c10::elementSize(kind.type);
  for (const int64_t size : kind.shape(classes)) bytes *= static_cast<size_t>(size);
  return bytes;
}

void storeClass(int64_t label, std::span<uint8_t> out) {
  check(out.size() == sizeof label, "a class is stored as int64");
  std::memcpy(out.data(), &label, sizeof label);
}

}  // namespace tandem

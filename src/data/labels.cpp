#include "data/labels.h"

#include <array>
#include <cstring>

#include "base/error.h"

namespace tandem {
namespace {

std::vector<int64_t> oneNumber(int64_t) { return {}; }
std::vector<int64_t> onePerClass(int64_t classes) { return {classes}; }

void drawClass(CounterRandom& random, int64_t classes, std::span<uint8_t> out) {
  storeClass(static_cast<int64_t>(random.below(static_cast<uint64_t>(classes))), out);
}

void drawFlags(CounterRandom& random, int64_t, std::span<uint8_t> out) {
  for (uint8_t& flag : out) flag = static_cast<uint8_t>(random.below(2));
}

constexpr std::array catalog{
    LabelKind{"class", "one class per image", at::kLong, oneNumber, drawClass},
    LabelKind{"flags", "any of the classes per image", at::kByte, onePerClass, drawFlags},
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

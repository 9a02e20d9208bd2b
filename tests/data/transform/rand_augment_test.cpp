#include "data/transform/rand_augment.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/catalog.h"
#include "base/text.h"
#include "data/transform/noise.h"
#include "formats/io/checksum.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

/// [1, 3, H, W] of noise; grey: of its first channel.
at::Tensor noiseTensor(int64_t height, int64_t width, uint64_t seed, bool grey) {
  std::vector<uint8_t> bytes = noise(static_cast<uint64_t>(height), static_cast<uint64_t>(width), seed);
  const at::Tensor pixels = at::from_blob(bytes.data(), {1, height, width, 3}, at::kByte).permute({0, 3, 1, 2});
  return (grey ? pixels.narrow(1, 0, 1).expand({1, 3, height, width}) : pixels).clone();
}

std::string sumOf(const at::Tensor& image) {
  const at::Tensor bytes = image.permute({0, 2, 3, 1}).contiguous();
  return sha256Of(std::span(bytes.const_data_ptr<uint8_t>(), static_cast<size_t>(bytes.numel())));
}

// See tests/golden/make_rand_augment.py.
TEST(RandAugment, HasTheOperationsOfTimmToTheBit) {
  std::ifstream file(concat(testsFolder(), "/golden/images/rand_augment.json"));
  const auto cases = nlohmann::json::parse(file);
  std::map<std::string, int> seen;
  for (const auto& row : cases) {
    const RandOperation& operation = find(randOperations(), row.at("operation").get<std::string>(), "operation");
    const double level = row.at("magnitude").get<double>() / mostMagnitude;
    const bool negative = operation.bothWays && row.at("negative").get<bool>();
    const RandStep step{&operation, operation.valueOf(negative ? -level : level)};
    const at::Tensor image = noiseTensor(row.at("height"), row.at("width"), row.at("seed"), row.at("grey"));
    EXPECT_EQ(sumOf(randAugmented(image, {&step, 1})), row.at("sha256").get<std::string>()) << row;
    ++seen[row.at("operation")];
  }
  EXPECT_EQ(seen.size(), randOperations().size());
  for (const auto& [name, count] : seen) EXPECT_EQ(count, 8) << name;
}

// Pillow 13 refuses to keep no bit, which timm then asks for; before, the image became black.
TEST(RandAugment, MakesAnImageWithoutBitsBlack) {
  const RandOperation& operation = find(randOperations(), "posterize", "operation");
  const RandStep step{&operation, operation.valueOf(1)};
  EXPECT_EQ(randAugmented(noiseTensor(5, 4, 1, false), {&step, 1}).max().item<int>(), 0);
}

TEST(RandAugment, AppliesStepsInTheirOrder) {
  const RandStep invert{&find(randOperations(), "invert", "operation"), 0};
  const RandStep add{&find(randOperations(), "solarize_add", "operation"), 100};
  const at::Tensor image = at::full({1, 3, 2, 2}, 10, at::kByte);
  const auto first = [&](const std::vector<RandStep>& steps) {
    return randAugmented(image, steps).flatten()[0].item<int>();
  };
  EXPECT_EQ(first({invert, add}), 245);
  EXPECT_EQ(first({add, invert}), 145);
  EXPECT_EQ(image.min().item<int>(), 10);
}

TEST(RandAugment, DrawsOperationsMagnitudesAndSigns) {
  constexpr int images = 60'000;
  std::map<std::string_view, int> counts;
  double sum = 0, squares = 0;
  int steps = 0, turns = 0, positive = 0;
  for (uint64_t key = 0; key < images; ++key) {
    CounterRandom random(mixBits(key));
    const std::vector<RandStep> drawn = drawRandAugment({2, 6, 0.5, 0.5}, random);
    ASSERT_LE(drawn.size(), 2U);
    for (const auto& [operation, value] : drawn) {
      ++counts[operation->name], ++steps;
      if (operation->name != "rotate") continue;
      const double magnitude = std::abs(value) / 3;
      sum += magnitude, squares += magnitude * magnitude, ++turns, positive += value > 0 ? 1 : 0;
    }
  }
  EXPECT_NEAR(steps, images, 1000);
  ASSERT_EQ(counts.size(), 15U);
  for (const auto& [name, count] : counts) EXPECT_NEAR(count, images / 15, 320) << name;
  const double mean = sum / turns;
  EXPECT_NEAR(mean, 6, 0.04);
  EXPECT_NEAR(std::sqrt(squares / turns - mean * mean), 0.5, 0.03);
  EXPECT_NEAR(positive, turns / 2, 160);
}

TEST(RandAugment, KeepsMagnitudesWithinTheirBounds) {
  bool least = false, most = false;
  for (uint64_t key = 0; key < 2000; ++key) {
    CounterRandom random(mixBits(key));
    for (const auto& [operation, value] : drawRandAugment({3, 5, 10, 1}, random)) {
      if (operation->name != "solarize") continue;
      EXPECT_TRUE(value >= 0 && value <= 256) << value;
      least |= value == 0, most |= value == 256;
    }
  }
  EXPECT_TRUE(least && most);
}

TEST(RandAugment, ChangesNothingWithAProbabilityOfZero) {
  CounterRandom random(1);
  EXPECT_TRUE(drawRandAugment({16, 9, 0.5, 0}, random).empty());
}

}  // namespace
}  // namespace tandem

#include "formats/dataset/data_manifest.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

DataManifest example() {
  DataManifest manifest{.complete = true, .options = {{"to", "packed"}, {"a", "\"\u00e4"}}, .splits = {}};
  manifest.splits.push_back(
      {"train", {DataManifest::Shard{3, 1, {100, "x"}}, std::nullopt, DataManifest::Shard{2, 0, {50, "y"}}}});
  manifest.splits.push_back({"val", {}});
  return manifest;
}

std::string refusal(const std::string& text) {
  const auto parsed = parseManifest(asBytes(text));
  return parsed ? "" : parsed.error().text;
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = manifestText(example());
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(DataManifest, IsReadAsItWasWritten) {
  const std::string text = manifestText(example());
  const auto parsed = parseManifest(asBytes(text));
  ASSERT_TRUE(parsed.ok()) << parsed.error().text;
  EXPECT_EQ(manifestText(parsed.value()), text);
  EXPECT_EQ(parsed.value().options, example().options) << "in their order";
  const DataManifest::Split& split = parsed.value().splits.at(0);
  ASSERT_EQ(split.shards.size(), 3U);
  EXPECT_FALSE(split.shards[1]);
  EXPECT_EQ(split.images(), 5);
  EXPECT_EQ(split.skipped(), 1);
  const std::string sums = "xy";
  EXPECT_EQ(split.sha256(), sha256Of(asBytes(sums)));
}

TEST(DataManifest, IsRefusedByWhatItLacks) {
  EXPECT_EQ(refusal(manifestText(example())), "");
  EXPECT_EQ(refusal("{"), "it is no JSON in which each member has its form");
  EXPECT_EQ(refusal("3"), "it is no JSON in which each member has its form");
  EXPECT_EQ(refusal("{}"), "it is no JSON in which each member has its form");
  EXPECT_EQ(refusal(with("tandem-data", "x")), "its member 'format' is not 'tandem-data'");
  EXPECT_EQ(refusal(with("\"version\": 2", "\"version\": 1")), "its version is not 2, which is read");
  EXPECT_EQ(refusal(with("\"bytes\": 100", "\"bytes\": -1")),
            "its member 'bytes' is no number from 0 to 1099511627776");
  EXPECT_EQ(refusal(with("\"bytes\": 100", "\"bytes\": 1e99")),
            "its member 'bytes' is no number from 0 to 1099511627776");
  EXPECT_NE(refusal(with("\"bytes\": 100", "\"bytes\": 1099511627777")), "");
  EXPECT_EQ(refusal(with("\"packed\"", "1")), "it is no JSON in which each member has its form");
  EXPECT_EQ(refusal(with("null", "[]")), "it is no JSON in which each member has its form");
}

}  // namespace
}  // namespace tandem

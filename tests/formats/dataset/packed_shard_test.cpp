#include "formats/dataset/packed_shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "formats/io/file.h"
#include "support/packed_bytes.h"

namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr size_t magicBytes = 16, endBytes = 44;

Result<PackedShard> parsed(const Bytes& bytes, const PackedLimits& limits = {}) {
  const auto read = [&](uint64_t offset, std::span<uint8_t> out) {
    if (offset > bytes.size() || out.size() > bytes.size() - offset) throw std::logic_error("read outside the file");
    std::copy_n(bytes.begin() + static_cast<int64_t>(offset), out.size(), out.begin());
  };
  return parsePackedShard(bytes.size(), read, limits);
}

std::string refusal(const Bytes& bytes, const PackedLimits& limits = {}) {
  const auto shard = parsed(bytes, limits);
  return shard ? "" : shard.error().text;
}

struct Entry {
  uint64_t offset;
  uint32_t bytes;
};

/// A shard with 10 bytes of samples and any index and description, whose checksums are right.
Bytes shardOf(const std::vector<Entry>& entries, const std::string& description, size_t labelBytes = 8) {
  Bytes index;
  for (const Entry& entry : entries) {
    appendLittleEndian(index, entry.offset), appendLittleEndian(index, entry.bytes);
    appendLittleEndian(index, uint32_t{0});
  }
  index.resize(index.size() + entries.size() * labelBytes);
  return packedBytes("0123456789", index, description);
}

std::string description(const std::string& more, const std::string& samples = "1",
                        const std::string& size = "[0,0,0]") {
  return concat(R"({"labels":"class","label_bytes":8,"classes":3,"samples":)", samples, R"(,"size":)", size, more, "}");
}

class PackedShards : public testing::Test {
 protected:
  ~PackedShards() override { std::remove(path.c_str()); }

  Bytes written(const PackedFacts& facts, const std::vector<Bytes>& samples) const {
    PackedShardWriter writer(path);
    Bytes label(static_cast<size_t>(facts.labelBytes));
    for (const Bytes& sample : samples) {
      writer.add(sample, label);
      ++label[0];
    }
    const FileSum sum = writer.commit(facts);
    Bytes bytes = readFile(path, 1 << 20);
    EXPECT_EQ(sum.bytes, bytes.size());
    EXPECT_EQ(sum.sha256, sha256Of(bytes));
    return bytes;
  }

  const std::string path = testing::TempDir() + "/packed_shard_test.tandem";
  const PackedFacts files{.labels = "class", .labelBytes = 8, .classes = 3, .classNames = {"cat", "dog", "\u00e4\""}};
};

TEST_F(PackedShards, AreReadAsTheyWereWritten) {
  const std::vector<Bytes> samples{{1, 2, 3}, {}, {4, 5}};
  const Bytes bytes = written(files, samples);
  const auto shard = parsed(bytes);
  ASSERT_TRUE(shard.ok()) << shard.error().text;
  EXPECT_EQ(shard.value().facts, files);
  ASSERT_EQ(shard.value().size(), 3U);
  for (size_t i = 0; i < samples.size(); ++i) {
    const PackedPlace place = shard.value().places[i];
    const auto begin = bytes.begin() + static_cast<int64_t>(place.offset);
    EXPECT_EQ(Bytes(begin, begin + place.bytes), samples[i]);
    EXPECT_EQ(place.crc32c, crc32cOf(samples[i]));
    EXPECT_EQ(shard.value().labelOf(i)[0], i);
  }
}

TEST_F(PackedShards, HoldPixelsWithTheirSums) {
  PackedFacts facts{.labels = "flags", .labelBytes = 2, .classes = 2, .height = 1, .width = 2, .channels = 3};
  facts.sums = {3, 7, 11}, facts.squares = {5, 29, 77};
  const auto shard = parsed(written(facts, {{1, 2, 3, 2, 5, 8}}));
  ASSERT_TRUE(shard.ok()) << shard.error().text;
  EXPECT_EQ(shard.value().facts, facts);
  EXPECT_EQ(parsed(written(files, {})).value().size(), 0U) << "a shard may be empty";
}

TEST_F(PackedShards, WithoutTheirEndAreRefused) {
  const Bytes whole = written(files, {{1, 2, 3}, {4, 5}});
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_NE(refusal(Bytes(whole.begin(), whole.begin() + static_cast<int64_t>(bytes))), "") << bytes;
  }
  Bytes longer = whole;
  longer.push_back(0);
  EXPECT_EQ(refusal(longer), "the file does not end as a packed shard; it is truncated, fetch it again");
}

TEST_F(PackedShards, WithAChangedByteAreRefusedUnlessASampleHasIt) {
  const Bytes whole = written(files, {{1, 2, 3}, {4, 5}});
  for (size_t at = 0; at < whole.size(); ++at) {
    Bytes changed = whole;
    changed[at] ^= 0x10;
    const bool inSample = at >= magicBytes && at < magicBytes + 5;
    EXPECT_EQ(refusal(changed) == "", inSample) << at;
  }
}

TEST_F(PackedShards, OfAnotherVersionAreNamed) {
  Bytes newer = written(files, {{1}});
  newer[14] = '2';
  EXPECT_EQ(refusal(newer),
            "its version is '2\\x0a'; version 1 is read, so convert the images anew, or use a newer tandem");
  newer[0] = 'T';
  EXPECT_EQ(refusal(newer), "the file does not begin as a packed shard");
}

TEST_F(PackedShards, WhoseSamplesLieElsewhereAreRefused) {
  EXPECT_EQ(refusal(shardOf({{16, 10}}, description(""))), "");
  for (const Entry& entry : {Entry{15, 1}, {27, 0}, {26, 1}, {16, 11}, {UINT64_MAX, 1}, {UINT64_MAX - 5, 10}}) {
    EXPECT_NE(refusal(shardOf({entry}, description(""))).find("samples lie between 16 and 26"), std::string::npos)
        << entry.offset << ' ' << entry.bytes;
  }
  EXPECT_EQ(refusal(shardOf({{16, UINT32_MAX}}, description(""))),
            "sample 0 (from 0) has 4294967295 bytes; the limit is 268435456");
  EXPECT_EQ(refusal(shardOf({{16, 10}}, description(R"(,"sums":[0,0,0],"squares":[0,0,0])", "1", "[1,3,3]"))),
            "sample 0 (from 0) has 10 bytes; its pixels need 9");
}

TEST_F(PackedShards, WhoseOffsetsAreInDisorderAreRefused) {
  Bytes bytes = shardOf({{16, 10}}, description(""));
  const auto withOffsets = [&](uint64_t index, uint64_t described) {
    Bytes end;
    appendLittleEndian(end, index), appendLittleEndian(end, described);
    const auto at = bytes.end() - endBytes;
    std::ranges::copy(end, at);
    end.assign(at, at + 24);
    Bytes sum;
    appendLittleEndian(sum, crc32cOf(end));
    std::ranges::copy(sum, at + 24);
    return refusal(bytes);
  };
  for (const auto& [index, described] :
       {std::pair<uint64_t, uint64_t>{15, 50}, {60, 50}, {26, bytes.size()}, {26, UINT64_MAX}}) {
    EXPECT_NE(withOffsets(index, described).find("both must lie in order between 16 and"), std::string::npos) << index;
  }
}

TEST_F(PackedShards, WithHugeCountsAreRefusedBeforeMemoryIsTaken) {
  for (const char* samples : {"2", "1099511627776"}) {
    EXPECT_NE(refusal(shardOf({{16, 1}}, description("", samples))).find("the index has 24 bytes; "),
              std::string::npos);
  }
  EXPECT_NE(refusal(shardOf({{16, 1}}, description("", "1099511627777")))
                .find("has a member 'samples' that is no whole number"),
            std::string::npos);
  const std::string text = description("");
  EXPECT_EQ(refusal(shardOf({{16, 1}}, text), {.descriptionBytes = 20}),
            concat("the description has ", text.size(), " bytes; the limit is 20"));
}

TEST_F(PackedShards, AreRefusedByWhatTheirDescriptionLacks) {
  const auto refusedBy = [](const std::string& text) { return refusal(shardOf({{16, 1}}, text)); };
  const std::string noForm = "the description is no JSON in which each member has its form";
  EXPECT_EQ(refusedBy("{}"), noForm);
  EXPECT_EQ(refusedBy("["), noForm);
  EXPECT_EQ(refusedBy("[1]"), noForm);
  EXPECT_EQ(refusedBy(description(R"(,"class_names":[1])")), noForm);
  EXPECT_EQ(refusedBy(description("", "1", "[1,1,3]")), noForm) << "pixels have sums";
  EXPECT_EQ(refusedBy(description(R"(,"class_names":["a"])")), "the description has 1 class_names for 3 classes");
  EXPECT_EQ(refusedBy(description("", "-1")),
            "the description has a member 'samples' that is no whole number from 0 to 1099511627776");
  EXPECT_EQ(refusedBy(description("", "18446744073709551615")).substr(0, 51),
            "the description has a member 'samples' that is no w");
  EXPECT_EQ(refusedBy(description("", "1", "[1,1]")),
            "the description has a size that is not [height, width, channels]");
  EXPECT_EQ(refusedBy(description("", "1", "[1,1,2]")).substr(0, 38), "the description has the size 1 x 1 x 2");
  EXPECT_EQ(refusedBy(description("", "1", "[32769,1,3]")),
            "the description has a member 'height' that is no whole number from 0 to 32768");
  EXPECT_EQ(refusedBy(description(R"(,"size":[0,0,0])")), "the description: member 'size' stands twice in one object");
  EXPECT_EQ(refusedBy(description(R"(,"x":[[[1]]])")), "the description: lists and objects are nested deeper than 2");
  EXPECT_EQ(refusedBy(description(R"(,"sums":[256,0,0],"squares":[0,0,0])", "1", "[1,1,1]")),
            "the description has sums of channel 0 that no pixels in bytes have");
  for (const char* sum : {"1.5", "-1", "1.8446744073709552e19", "18446744073709551615"}) {
    EXPECT_EQ(refusedBy(description(concat(R"(,"sums":[0,0,)", sum, R"(],"squares":[0,0,0])"), "1", "[1,1,3]")),
              "the description has a member 'sums' that is no whole number from 0 to 9223372036854775807");
  }
  EXPECT_EQ(refusedBy(description(R"(,"sums":[0,0,0],"squares":[0,0])", "1", "[1,1,3]")),
            "the description has 'squares' that are not three numbers");
}

}  // namespace
}  // namespace tandem

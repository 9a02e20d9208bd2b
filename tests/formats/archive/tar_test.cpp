#include "formats/archive/tar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "formats/dataset/web_sample.h"
#include "support/tar_writer.h"

namespace tandem {
namespace {

Result<std::vector<TarEntry>> indexOf(const TarBytes& bytes, const TarLimits& limits = {}) {
  return indexTar(
      bytes.size(),
      [&](uint64_t offset, std::span<uint8_t> out) {
        ASSERT_LE(offset + out.size(), bytes.size());
        std::copy_n(bytes.begin() + static_cast<int64_t>(offset), out.size(), out.begin());
      },
      limits);
}

std::string contentOf(const TarBytes& bytes, const TarEntry& entry) {
  const auto begin = bytes.begin() + static_cast<int64_t>(entry.offset);
  return {begin, begin + static_cast<int64_t>(entry.bytes)};
}

void expectRefused(const TarBytes& bytes, const std::string& part, const TarLimits& limits = {}) {
  const auto found = indexOf(bytes, limits);
  ASSERT_FALSE(found.ok()) << part;
  EXPECT_NE(found.error().text.find(part), std::string::npos) << found.error().text;
}

TarBytes joined(std::initializer_list<TarBytes> parts) {
  TarBytes all;
  for (const TarBytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(Tar, WritesWhatItReads) {
  const std::string name(100, 'n'), content(513, 'x');
  TarBytes whole;
  for (const auto& [file, bytes] : {std::pair<std::string, std::string>{name, content}, {"b", ""}}) {
    for (const TarBytes& part :
         {tarHeader(file, bytes.size()), TarBytes(bytes.begin(), bytes.end()), tarPadding(bytes.size())}) {
      whole.insert(whole.end(), part.begin(), part.end());
    }
  }
  const TarBytes end = tarEnd();
  whole.insert(whole.end(), end.begin(), end.end());
  EXPECT_EQ(whole.size(), 512 + 1024 + 512 + 1024U);
  const auto found = indexOf(whole);
  ASSERT_TRUE(found.ok()) << found.error().text;
  ASSERT_EQ(found.value().size(), 2U);
  EXPECT_EQ(found.value()[0].name, name);
  EXPECT_EQ(contentOf(whole, found.value()[0]), content);
  EXPECT_EQ(found.value()[1].bytes, 0U);
}

TEST(Tar, FindsRegularFiles) {
  const TarBytes bytes =
      joined({tarFile("dir/", "", '5'), tarOf({{"dir/a.txt", "first"}, {"b", std::string(513, 'x')}})});
  const auto found = indexOf(bytes);
  ASSERT_TRUE(found.ok()) << found.error().text;
  ASSERT_EQ(found.value().size(), 2U);
  EXPECT_EQ(found.value()[0].name, "dir/a.txt");
  EXPECT_EQ(contentOf(bytes, found.value()[0]), "first");
  EXPECT_EQ(found.value()[1].bytes, 513U);
}

TEST(Tar, KnowsTheLongNamesOfGnuAndPax) {
  const std::string name(150, 'n');
  const TarBytes gnu =
      joined({tarFile("././@LongLink", name + '\0', 'L'), tarFile("short", "1"), tarFile("next", "2")});
  const std::string record = "path=" + name + "\n", pax = std::to_string(record.size() + 4) + ' ' + record;
  const TarBytes posix = joined({tarFile("x", pax, 'x'), tarFile("short", "1"), tarFile("next", "2")});
  for (const TarBytes& bytes : {gnu, posix}) {
    const auto found = indexOf(bytes);
    ASSERT_TRUE(found.ok()) << found.error().text;
    ASSERT_EQ(found.value().size(), 2U);
    EXPECT_EQ(found.value()[0].name, name);
    EXPECT_EQ(found.value()[1].name, "next");
  }
}

/// With a field of the header replaced, and the checksum made good.
TarBytes changed(TarBytes block, size_t at, const std::string& field) {
  std::copy(field.begin(), field.end(), block.begin() + static_cast<int64_t>(at));
  std::fill_n(block.begin() + 148, 8, ' ');
  const auto sum = std::accumulate(block.begin(), block.begin() + 512, 0U);
  char text[9];
  std::snprintf(text, sizeof text, "%06o", sum);
  std::copy_n(text, 7, block.begin() + 148);
  return block;
}

TEST(Tar, KnowsThePrefixOfUstarAndSizesBeyondOctal) {
  const TarBytes prefixed = changed(tarFile("name", "1"), 345, "front/of/it");
  EXPECT_EQ(indexOf(prefixed).value().at(0).name, "front/of/it/name");
  const std::string binary{'\x80', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3};
  EXPECT_EQ(indexOf(changed(tarFile("name", "123"), 124, binary)).value().at(0).bytes, 3U);
  const TarBytes pax = joined({tarFile("x", "10 size=2\n", 'x'), changed(tarFile("name", "12"), 124, "00000000000")});
  EXPECT_EQ(indexOf(pax).value().at(0).bytes, 2U);
  expectRefused(changed(tarFile("name", "123"), 124, {'\xFF', '\xFF', '\xFF', '\xFF', '\xFF', '\xFF'}),
                "reaches behind");
}

TEST(Tar, RefusesWhatIsDamaged) {
  TarBytes bytes = tarOf({{"a", "first"}, {"b", "second"}});
  expectRefused({bytes.begin(), bytes.begin() + 1100}, "ends within a header");
  expectRefused({bytes.begin(), bytes.begin() + 514}, "reaches behind the archive's end");
  bytes[0] = 'c';
  expectRefused(bytes, "checksum of a tar header differs");
  expectRefused(TarBytes(512, 'x'), "no tar archive");
  expectRefused(joined({tarFile("x", "9 path\n", 'x'), tarFile("a", "")}), "no length that fits");
  expectRefused(joined({tarFile("x", "7 path\n", 'x'), tarFile("a", "")}), "no '='");
  expectRefused(joined({tarFile("x", "10 size=x\n", 'x'), tarFile("a", "")}), "is no number");
  expectRefused(tarFile("s", "", 'S'), "sparse");
  expectRefused(tarOf({{"a", "1"}, {"b", "2"}}), "more than 1 files", {.entries = 1});
  expectRefused(tarOf({{"abcdef", "1"}}), "a name of 6 bytes", {.nameBytes = 5});
}

TEST(WebSample, JoinsNeighboursOfOneKey) {
  const TarBytes bytes = tarOf({{"a/0.jpg", "image"},
                                {"a/0.cls", "7\n"},
                                {"a/0.seg.png", "mask"},
                                {"a/1.JSON", R"({"label": 3, "more": [1]})"},
                                {"a/1.png", "other"},
                                {"b/1.jpeg", "third"},
                                {"b/2.txt", "words"}});
  const auto samples = webSamples(indexOf(bytes).value());
  ASSERT_EQ(samples.size(), 3U);
  const auto labelOf = [&](const WebSample& sample) {
    return sample.parseLabel({bytes.data() + sample.label.offset, sample.label.bytes}).value();
  };
  EXPECT_EQ(samples[0].image.bytes, 5U);
  EXPECT_EQ(labelOf(samples[0]), 7);
  EXPECT_EQ(labelOf(samples[1]), 3);
  EXPECT_EQ(samples[1].image.bytes, 5U);
  EXPECT_EQ(samples[2].label.bytes, 0U) << "another folder, another sample";
}

TEST(WebSample, RefusesOtherLabels) {
  const auto refusal = [](const std::string& name, const std::string& content) {
    const TarBytes bytes = tarOf({{name, content}});
    const auto samples = webSamples(indexOf(bytes).value());
    const auto label = samples.at(0).parseLabel({bytes.data() + samples[0].label.offset, samples[0].label.bytes});
    return label ? std::string("accepted") : label.error().text;
  };
  EXPECT_NE(refusal("0.cls", "-1").find("'-1', which must be a number from 0"), std::string::npos);
  EXPECT_NE(refusal("0.cls", "cat").find("'cat'"), std::string::npos);
  EXPECT_NE(refusal("0.json", "{").find("no JSON"), std::string::npos);
  EXPECT_NE(refusal("0.json", R"({"label": 1, "x": 1e999})").find("no JSON that can be read"), std::string::npos);
  EXPECT_NE(refusal("0.json", R"({"name": 1})").find("neither a member 'label' nor 'cls'"), std::string::npos);
  EXPECT_NE(refusal("0.json", R"({"cls": "x"})").find("'cls' is no number"), std::string::npos);
}

}  // namespace
}  // namespace tandem

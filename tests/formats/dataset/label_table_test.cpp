#include "formats/dataset/label_table.h"

#include <gtest/gtest.h>

#include <string_view>

namespace tandem {
namespace {

using Texts = std::vector<std::string>;

std::span<const uint8_t> bytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string refusal(const Result<LabelTable>& table) { return table ? "" : table.error().text; }

TEST(LabelTable, OfACsvHasALabelForEachFile) {
  const auto table = parseLabelCsv(bytesOf("id,filename,class\n7,a/x.jpg,cat\n8,b.png,dog\n"));
  ASSERT_TRUE(table.ok()) << refusal(table);
  ASSERT_EQ(table.value().rows.size(), 2U);
  EXPECT_EQ(table.value().rows[0].file, "a/x.jpg");
  EXPECT_EQ(table.value().rows[0].labels, Texts{"cat"});
  EXPECT_EQ(table.value().rows[1].place, "line 3");
  EXPECT_FALSE(table.value().several);
}

TEST(LabelTable, OfACsvMayHaveSeveralLabels) {
  const auto bars = parseLabelCsv(bytesOf("image,labels\na.png,x|y\nb.png,\n"));
  ASSERT_TRUE(bars.ok()) << refusal(bars);
  EXPECT_TRUE(bars.value().several);
  EXPECT_EQ(bars.value().rows[0].labels, (Texts{"x", "y"}));
  EXPECT_EQ(bars.value().rows[1].labels, Texts{});
  const auto flags = parseLabelCsv(bytesOf("path,x,y,z\na.png,0,1,1\nb.png,0,0,0\n"));
  ASSERT_TRUE(flags.ok()) << refusal(flags);
  EXPECT_TRUE(flags.value().several);
  EXPECT_EQ(flags.value().classes, (Texts{"x", "y", "z"}));
  EXPECT_EQ(flags.value().rows[0].labels, (Texts{"y", "z"}));
}

TEST(LabelTable, OfJsonIsAnObjectOfFiles) {
  const auto table = parseLabelJson(bytesOf(R"({"b.jpg": 1, "a.jpg": "cat", "c.jpg": [1, "x"]})"));
  ASSERT_TRUE(table.ok()) << refusal(table);
  ASSERT_EQ(table.value().rows.size(), 3U);
  EXPECT_EQ(table.value().rows[0].file, "a.jpg");
  EXPECT_EQ(table.value().rows[1].labels, Texts{"1"});
  EXPECT_EQ(table.value().rows[2].labels, (Texts{"1", "x"}));
  EXPECT_TRUE(table.value().several);
}

TEST(LabelTable, RefusesOthers) {
  EXPECT_EQ(refusal(parseLabelCsv(bytesOf("a,b\n1,2\n"))),
            "line 1 names no column of files; it has a, b, and needs one of file, image, filename, path");
  EXPECT_EQ(refusal(parseLabelCsv(bytesOf("file\na\n"))), "line 1 names no column of labels; add 'label'");
  EXPECT_EQ(refusal(parseLabelCsv(bytesOf("file,x\na,2\n"))),
            "line 2: column 'x' is '2'; it must be 0 or 1, or the table needs a column 'label'");
  EXPECT_EQ(refusal(parseLabelJson(bytesOf("[1]"))), "it is array; it must be an object {\"file\": label}");
  EXPECT_EQ(refusal(parseLabelJson(bytesOf("{"))), "it is no JSON");
  EXPECT_EQ(refusal(parseLabelJson(bytesOf(R"({"a": 1.5})"))),
            "the label of 'a' is number; it must be a whole number, a text, or a list of these");
  EXPECT_EQ(refusal(parseLabelJson(bytesOf(R"({"a": {"b": 1}})"))),
            "the label of 'a' is object; it must be a whole number, a text, or a list of these");
  EXPECT_EQ(refusal(parseLabelJson(bytesOf(R"({"a": 1, "a": 2})"))), "member 'a' stands twice in one object");
  EXPECT_EQ(refusal(parseLabelJson(bytesOf("{\"a\": " + std::string(100'000, '[')))),
            "lists and objects are nested deeper than 2");
  EXPECT_EQ(refusal(parseLabelJson(bytesOf(std::string_view("{}\0{}", 5)))), "a byte 0: this is no JSON");
  EXPECT_EQ(refusal(parseLabelCsv(bytesOf("file,x,x\na,0,1\n"))), "line 1 names a column twice; it has file, x, x");
}

}  // namespace
}  // namespace tandem

#include "formats/dataset/csv.h"

#include <gtest/gtest.h>

#include <string_view>

namespace tandem {
namespace {

using Cells = std::vector<std::string>;

Result<Csv> parse(std::string_view text, const CsvLimits& limits = {}) {
  return parseCsv({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, limits);
}

std::string refusal(std::string_view text, const CsvLimits& limits = {}) {
  const auto csv = parse(text, limits);
  return csv ? "" : csv.error().text;
}

TEST(Csv, ReadsColumnsAndRows) {
  const auto csv = parse("file,label\na.jpg,1\nb.jpg,2");
  ASSERT_TRUE(csv.ok());
  EXPECT_EQ(csv.value().columns, (Cells{"file", "label"}));
  ASSERT_EQ(csv.value().rows.size(), 2U);
  EXPECT_EQ(csv.value().rows[1].cells, (Cells{"b.jpg", "2"}));
  EXPECT_EQ(csv.value().rows[1].line, 3);
}

TEST(Csv, ReadsWhatOtherProgramsWrite) {
  const auto csv = parse(
      "\xEF\xBB\xBF"
      "a,b\r\n\r\n\"x, \"\"y\"\"\",\"two\nlines\"\r\n,\r\nlast,1\r\n");
  ASSERT_TRUE(csv.ok()) << csv.error().text;
  EXPECT_EQ(csv.value().columns, (Cells{"a", "b"}));
  ASSERT_EQ(csv.value().rows.size(), 3U);
  EXPECT_EQ(csv.value().rows[0].cells, (Cells{"x, \"y\"", "two\nlines"}));
  EXPECT_EQ(csv.value().rows[1].cells, (Cells{"", ""}));
  EXPECT_EQ(csv.value().rows[2].line, 6);
}

TEST(Csv, RefusesWhatIsNoTable) {
  EXPECT_EQ(refusal(""), "it has no line; the first must name the columns");
  EXPECT_EQ(refusal("\n\n"), "it has no line; the first must name the columns");
  EXPECT_EQ(refusal("a,b\n1,2,3\n"), "line 2 has 3 cells, the first line 2; all must have as many");
  EXPECT_EQ(refusal("a,b\n1\n"), "line 2 has 1 cells, the first line 2; all must have as many");
  EXPECT_EQ(refusal("a,b\n1,\"2"), "line 2 has a quote that is not closed");
  EXPECT_EQ(refusal("a,b\n\"1\"2,3"), "line 2 has text behind a closing quote");
  EXPECT_EQ(refusal("a,b\n1\r2,3"), "line 2 has a carriage return within it");
  EXPECT_EQ(refusal(std::string_view("a,b\n1,\0", 7)), "line 2 has a NUL byte");
}

TEST(Csv, HasLimits) {
  EXPECT_EQ(refusal("a,b\n" + std::string(30, 'x'), {.rowBytes = 20}), "line 2 has more than 20 bytes");
  EXPECT_EQ(refusal("a,b,c\n", {.columns = 2}), "line 1 has more than 2 cells");
}

TEST(Csv, WritesRowsThatItReads) {
  const std::vector<std::string> cells{"", "a,b", "say \"x\"", "two\nlines", "c\r", "plain"};
  const std::string text = "1,2,3,4,5,6\n" + csvLine(cells) + csvLine(cells);
  const auto csv = parse(text);
  ASSERT_TRUE(csv.ok()) << csv.error().text;
  ASSERT_EQ(csv.value().rows.size(), 2U);
  EXPECT_EQ(csv.value().rows[0].cells, cells);
  EXPECT_EQ(csv.value().rows[1].cells, cells);
  EXPECT_EQ(csvLine(std::vector<std::string>{"a", "b"}), "a,b\n");
}

}  // namespace
}  // namespace tandem

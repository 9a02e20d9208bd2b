#include "report/analysis/csv_table.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tandem {
namespace {

using Fields = std::vector<std::string>;

std::string refusal(const std::string& text) {
  try {
    parseCsv(text, "given.csv");
  } catch (const DataError& failure) {
    return failure.what();
  }
  return "";
}

TEST(CsvTable, ReadsQuotesLineEndsAndAByteOrderMark) {
  const auto table = parseCsv(
      "\xef\xbb\xbf"
      "a,b\r\n\"x, \"\"y\"\"\",1\n\n\"two\nlines\",\nz,2",
      "given.csv");
  EXPECT_EQ(table.columns, (Fields{"a", "b"}));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0].fields, (Fields{"x, \"y\"", "1"}));
  EXPECT_EQ(table.rows[1].fields, (Fields{"two\nlines", ""}));
  EXPECT_EQ(table.rows[2].fields, (Fields{"z", "2"}));
  EXPECT_EQ(table.rows[1].line, 4);
  EXPECT_EQ(table.rows[2].line, 6);
}

TEST(CsvTable, WhatIsWrittenReadsBack) {
  for (const std::string text : {"plain", "a,b", "say \"so\"", "two\nlines", ""}) {
    const auto table = parseCsv("h,i\n" + csvField(text) + ",1\n", "given.csv");
    EXPECT_EQ(table.rows.at(0).fields.at(0), text);
  }
}

TEST(CsvTable, RefusesWhatIsNotATableAndNamesTheLine) {
  const std::vector<std::pair<std::string, Fields>> cases{
      {"", {"no heading"}},
      {"a,b\n1\n", {"line 2", "1 fields", "2 columns"}},
      {"a,b\n1,2,3\n", {"line 2", "3 fields"}},
      {"a,a\n1,2\n", {"line 1", "called 'a'"}},
      {"a,\n1,2\n", {"line 1", "heading is empty"}},
      {"a,b\n1,\"2\n3\n", {"line 2", "never closed"}},
      {"a,b\n1,2\"3\n", {"line 2", "quote within"}},
      {"a,b\n\"1\"2,3\n", {"line 2", "after a closing quote"}},
      {std::string("a,b\n1,\0\n", 8), {"line 2", "NUL"}},
  };
  for (const auto& [text, parts] : cases) {
    for (const std::string& part : parts)
      EXPECT_NE(refusal(text).find(part), std::string::npos) << text << refusal(text);
    EXPECT_EQ(refusal(text).find("given.csv, line"), 0u);
  }
}

}  // namespace
}  // namespace tandem

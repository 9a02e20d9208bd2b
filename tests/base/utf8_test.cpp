#include "base/utf8.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(Utf8, AcceptsWhatRfc3629Allows) {
  for (const std::string text :
       {"", "a", "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(isUtf8(text)) << escaped(text);
  }
  for (const std::string text : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC2",
                                 "\xC2"
                                 "a",
                                 "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE1\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
                                 "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_FALSE(isUtf8(text)) << escaped(text);
  }
}

TEST(Utf8, ShowsForeignTextHarmlessly) {
  EXPECT_EQ(escaped("a\x1B[31m\n\xFF"), "a\\x1b[31m\\x0a\\xff");
  EXPECT_EQ(escaped(std::string(81, 'x')), std::string(80, 'x') + "...");
}

}  // namespace
}  // namespace tandem

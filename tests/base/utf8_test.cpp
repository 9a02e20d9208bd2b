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

TEST(Utf8, AsUtf8EscapesWhatIsNoCharacter) {
  EXPECT_EQ(asUtf8("gr\xc3\xbc\xc3\x9f\x1b \\xff"), "gr\xc3\xbc\xc3\x9f\x1b \\xff");
  EXPECT_EQ(asUtf8("a\xff\xc3|\xe2\x80"), "a\\xff\\xc3|\\xe2\\x80");
  EXPECT_EQ(asUtf8(asUtf8("\xff")), "\\xff");
}

TEST(Utf8, WithoutControlsIsOneHarmlessLine) {
  EXPECT_EQ(withoutControls("gr\xc3\xbc\xc3\x9f e \xf0\x9f\x9a\x80"), "gr\xc3\xbc\xc3\x9f e \xf0\x9f\x9a\x80");
  EXPECT_EQ(withoutControls("a\nb\x1b[31m\x7f"), "a\\x0ab\\x1b[31m\\x7f");
  EXPECT_EQ(withoutControls("\xc2\x9b"
                            "1m"),
            "\\u009b1m")
      << "a control character of two bytes";
  EXPECT_EQ(withoutControls("\x9b"
                            "1m\xff"),
            "\\x9b1m\\xff")
      << "no UTF-8";
  EXPECT_EQ(withoutControls("\xe2\x80\xae\xe2\x81\xa6\xd8\x9c"), "\\u202e\\u2066\\u061c");
  EXPECT_EQ(withoutControls("\xf0\x9f\xbf\xbf"), "\\U0001ffff");
}

}  // namespace
}  // namespace tandem

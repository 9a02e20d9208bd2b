#include "base/text.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

using Texts = std::vector<std::string>;

TEST(Text, ScientificHasTwoDigits) {
  EXPECT_EQ(scientific(0.0106), "1.1e-02");
  EXPECT_EQ(scientific(0), "0.0e+00");
  EXPECT_EQ(scientific(123456), "1.2e+05");
}

TEST(Text, ConcatPrintsItsParts) { EXPECT_EQ(concat("a", 1, 'b', 2.5), "a1b2.5"); }

TEST(Text, JoinPutsSeparatorsBetween) {
  EXPECT_EQ(join(Texts{}), "");
  EXPECT_EQ(join(Texts{"a"}), "a");
  EXPECT_EQ(join(Texts{"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(join(Texts{"a", "b"}, "+"), "a+b");
}

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("", ","), (Texts{""}));
  EXPECT_EQ(split("a", ","), (Texts{"a"}));
  EXPECT_EQ(split("a,b/c", ",/"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(split(",a,", ","), (Texts{"", "a", ""}));
}

TEST(Text, NearestFindsTypingErrors) {
  const Texts names{"strategy", "steps", "resnet50", "resnet56", "vgg16", "lr"};
  EXPECT_EQ(nearest("stratgy", names), "strategy");
  EXPECT_EQ(nearest("stpes", names), "steps");
  EXPECT_EQ(nearest("rl", names), "lr");
  EXPECT_EQ(nearest("ResNet50", names), "resnet50");
  EXPECT_EQ(nearest("resnet6", names), "resnet56");
  EXPECT_EQ(nearest("vgg", names), "vgg16");
}

TEST(Text, NearestIsSilentAboutWhatIsFar) {
  const Texts names{"strategy", "lr"};
  EXPECT_EQ(nearest("xy", names), "");
  EXPECT_EQ(nearest("transformer", names), "");
  EXPECT_EQ(nearest("strategy", Texts{}), "");
}

TEST(Text, FixedRoundsAndHasNoNegativeZero) {
  EXPECT_EQ(fixed(1.256, 2), "1.26");
  EXPECT_EQ(fixed(-3, 0), "-3");
  EXPECT_EQ(fixed(-0.001, 1), "0.0");
}

TEST(Text, BytesInBinaryUnits) {
  EXPECT_EQ(bytesText(0), "0 B");
  EXPECT_EQ(bytesText(12), "12 B");
  EXPECT_EQ(bytesText(64 * 1024), "64 KiB");
  EXPECT_EQ(bytesText(1.5 * 1024 * 1024 * 1024), "1.5 GiB");
  EXPECT_EQ(bytesText(1024 * 1024 - 1), "1 MiB");
  EXPECT_EQ(bytesText(100), "100 B");
}

TEST(Text, SecondsInThreeDigits) {
  EXPECT_EQ(secondsText(0), "0 s");
  EXPECT_EQ(secondsText(1.234), "1.23 s");
  EXPECT_EQ(secondsText(0.0456), "45.6 ms");
  EXPECT_EQ(secondsText(7.8e-6), "7.8 us");
  EXPECT_EQ(secondsText(5e-9), "5 ns");
  EXPECT_EQ(secondsText(120), "120 s");
  EXPECT_EQ(secondsText(0.99996), "1 s");
}

}  // namespace
}  // namespace tandem

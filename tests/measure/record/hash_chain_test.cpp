#include "measure/record/hash_chain.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

const std::string object = R"({"config":{},"window_ns":5})";

TEST(Seal, IsTheLastMemberOfALineOfJson) {
  const std::string line = sealed(object, noSeal);
  EXPECT_EQ(line.size(), object.size() - 1 + sealBytes);
  const auto read = nlohmann::json::parse(line);
  EXPECT_EQ(read.at("window_ns"), 5);
  EXPECT_EQ(read.at("seal").at("previous"), noSeal);
  // printf '%064d{"config":{},"window_ns":5}' 0 | sha256sum
  EXPECT_EQ(read.at("seal").at("sha256"), "599572dee118e6fc3ec33f38360fe7d59887e45198aaf15e73fe768bfd2558e5");
  EXPECT_TRUE(hasSeal(line));
  EXPECT_TRUE(isAsSealed(line));
}

TEST(Seal, EveryChangedByteIsFound) {
  const std::string line = sealed(object, chainOf(sealed(object, noSeal)));
  for (size_t i = 0; i < line.size(); ++i) {
    std::string changed = line;
    changed[i] = changed[i] == '7' ? '8' : '7';
    EXPECT_TRUE(!hasSeal(changed) || !isAsSealed(changed)) << i;
  }
}

TEST(Seal, NamesTheLineBefore) {
  const std::string first = sealed(object, noSeal), second = sealed(object, chainOf(first));
  EXPECT_EQ(previousOf(first), noSeal);
  EXPECT_EQ(previousOf(second), chainOf(first));
  EXPECT_NE(chainOf(first), chainOf(second)) << "the same record behind another line";
}

TEST(Seal, ALineWithoutOneCountsAsBehindNone) {
  EXPECT_FALSE(hasSeal(object));
  EXPECT_TRUE(isAsSealed(object));
  EXPECT_EQ(chainOf(object), chainOf(sealed(object, noSeal)));
  EXPECT_FALSE(hasSeal(""));
  EXPECT_FALSE(hasSeal(sealed(object, noSeal).substr(object.size() - 1))) << "a seal and nothing else";
}

}  // namespace
}  // namespace tandem

#include "config/by_size.h"

#include <gtest/gtest.h>

#include "config/command_line.h"
#include "config/example_catalogs.h"

namespace tandem {
namespace {

using Names = std::vector<std::string>;

TEST(BySize, IsNamesWithGrowingSizesBetweenThem) {
  EXPECT_EQ(parseBySize("ring"), (BySize{{"ring"}, {}}));
  EXPECT_EQ(parseBySize("tree:32k:ring"), (BySize{{"tree", "ring"}, {32 << 10}}));
  EXPECT_EQ(parseBySize("a:7:b:2K:c:3m:d:1g:e"), (BySize{{"a", "b", "c", "d", "e"}, {7, 2048, 3 << 20, 1 << 30}}));
  for (const char* text : {"tree:32k", "tree::ring", "tree:0:ring", "tree:-1:ring", "tree:k:ring", "tree:1.5k:ring",
                           "a:2k:b:2k:c", "a:2k:b:1k:c", "a:32kib:b", "a:9999999999999999999:b", "a:9999999999g:b"}) {
    EXPECT_EQ(parseBySize(text), std::nullopt) << text;
  }
}

std::string given(const std::string& argument) {
  const Names line{argument};
  return parseArguments("bench", line, exampleCatalogs()).base.exchange.allReduce;
}

std::string refusal(const std::string& argument) {
  return usageErrorOf([&] { given(argument); });
}

TEST(BySize, AnOptionTakesNamesOfItsCatalogAlone) {
  EXPECT_EQ(given("--all-reduce=tree:32k:ring"), "tree:32k:ring");
  EXPECT_EQ(given("--all-reduce=auto"), "auto");
  EXPECT_EQ(
      refusal("--all-reduce=tree:32k"),
      "--all-reduce=tree:32k: must be a name, or names with growing sizes in bytes between them, as tree:32k:ring");
  EXPECT_NE(refusal("--all-reduce=tree:32k:rng").find("unknown all-reduce 'rng'; did you mean 'ring'?"),
            std::string::npos);
  EXPECT_NE(refusal("--all-reduce=auto:32k:ring").find("unknown all-reduce 'auto'"), std::string::npos);
  EXPECT_NE(refusal("--strategy=a:32k:b").find("unknown strategy"), std::string::npos) << "no list by size";
}

TEST(BySize, ListsAreValuesOfAnAxis) {
  const Names line{"--all-reduce=owner,tree:32k:ring,tree:1m:ring"};
  const Sweep sweep = parseArguments("bench", line, exampleCatalogs());
  ASSERT_EQ(sweep.axes.size(), 1U);
  EXPECT_EQ(sweep.axes[0].values, (Names{"owner", "tree:32k:ring", "tree:1m:ring"}));
}

TEST(BySize, TheNamesOfTfCnnBenchmarksAreOursInItToo) {
  EXPECT_EQ(given("--all_reduce_spec=pscpu:32k:xring"), "copy:32k:ring");
  EXPECT_EQ(given("--all_reduce_spec=psgpu:2K:rechd:64k:nccl"), "copy:2K:halving_doubling:64k:nccl");
  EXPECT_EQ(given("--all_reduce_spec=collective"), "ring");
  EXPECT_EQ(given("--all_reduce_spec=hierarchical"), "hierarchical");
  const Names line{"--all_reduce_spec=pscpu:32k:xring"};
  const auto notes = parseArguments("bench", line, exampleCatalogs()).notes;
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_NE(notes[0].find("a replica sums on its own device"), std::string::npos) << notes[0];
  EXPECT_NE(notes[1].find("bytes of a bucket"), std::string::npos) << notes[1];
}

TEST(BySize, WhatHasNoMeaningHereIsRefusedWithWhatToUse) {
  EXPECT_NE(refusal("--all_reduce_spec=nccl/xring").find("use --all-reduce=ring"), std::string::npos);
  EXPECT_NE(refusal("--all_reduce_spec=pscpu:32k:nccl/rechd").find("use --all-reduce=ring"), std::string::npos);
  EXPECT_NE(refusal("--all_reduce_spec=xring#2").find("has no shards (#N); --bucket-mib says"), std::string::npos);
  EXPECT_NE(refusal("--all_reduce_spec=pscpu:2k:pscpu#2:64k:xring").find("has no shards"), std::string::npos);
  EXPECT_NE(refusal("--all_reduce_spec=bcube").find("valid: "), std::string::npos);
}

}  // namespace
}  // namespace tandem

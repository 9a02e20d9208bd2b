#include "machine/gpu/gpu_topology.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace tandem {
namespace {

/// By the bus numbers of the stand-in for NVML.
GpuLinks linksOf(const std::vector<std::string>& buses, const char* library = TANDEM_FAKE_NVML) {
  std::vector<ProbedGpu> gpus;
  for (size_t i = 0; i < buses.size(); ++i)
    gpus.push_back({concat("cuda:", i), concat("00000000:", buses[i], ":00.0")});
  return readGpuLinks(gpus, library);
}

std::string pathBetween(const std::string& a, const std::string& b) { return linksOf({a, b}).pairs.front().path; }

TEST(GpuLinks, NvLinksAreCountedWhetherDirectOrThroughASwitch) {
  EXPECT_EQ(pathBetween("17", "65"), "NV4");
  EXPECT_EQ(pathBetween("98", "B1"), "NV6") << "the narrower of the two";
}

TEST(GpuLinks, OtherPathsAreWhereTheirPciePathsMeet) {
  EXPECT_EQ(pathBetween("C2", "D1"), "PIX");
  EXPECT_EQ(pathBetween("C2", "D2"), "PXB");
  EXPECT_EQ(pathBetween("C1", "C2"), "PHB");
  EXPECT_EQ(pathBetween("98", "C1"), "NODE");
  EXPECT_EQ(pathBetween("17", "98"), "SYS");
}

TEST(GpuLinks, WhatNvmlDoesNotSayIsUnknown) {
  EXPECT_EQ(pathBetween("D1", "D2"), "unknown") << "their links may lead to each other";
  EXPECT_EQ(pathBetween("17", "FF"), "unknown");
  EXPECT_EQ(linksOf({"C1", "D2"}).pairs.front().access, "unknown");
  const GpuLinks old = linksOf({"17", "65"}, TANDEM_FAKE_OLD_NVML);
  EXPECT_EQ(old.pairs, (std::vector<GpuLink>{{0, 1, "unknown", "unknown", "unknown"}}));
  EXPECT_EQ(old.slots, std::vector<GpuSlot>(2));
  EXPECT_TRUE(linksOf({"17", "65"}, "libno-such-library.so.1").pairs.empty());
}

TEST(GpuLinks, AccessAndAtomicsAreAskedForApart) {
  const auto answersOf = [](const std::string& a, const std::string& b) {
    const GpuLink link = linksOf({a, b}).pairs.front();
    return concat(link.access, ' ', link.atomics);
  };
  EXPECT_EQ(answersOf("17", "65"), "yes yes");
  EXPECT_EQ(answersOf("C1", "C2"), "yes no");
  EXPECT_EQ(answersOf("17", "C1"), "no no");
}

TEST(GpuLinks, AreShownAsAMatrixOfTheGpusOfTheRun) {
  const GpuLinks links = linksOf({"17", "65", "C1", "C2"});
  EXPECT_EQ(linkLines(links, std::vector<int>{0, 1, 3}),
            (std::vector<std::string>{"        cuda:0  cuda:1  cuda:3",  //
                                      "cuda:0  X       NV4     SYS",     //
                                      "cuda:1  NV4     X       SYS",     //
                                      "cuda:3  SYS     SYS     X",       //
                                      "peer access no, atomics no: 0-3 1-3", "peer access yes, atomics yes: 0-1",
                                      "PCIe cuda:0 gen 1 x16 now, gen 4 x16 at most; cuda:1 gen 1 x16 now, gen 4 x16 "
                                      "at most; cuda:3 gen 1 x8 now, gen 3 x8 at most"}));
  EXPECT_EQ(linkLines(links, std::vector<int>{2, 3})[3], "peer access yes, atomics no: all pairs");
  EXPECT_EQ(linkLines(links, std::vector<int>{1}), std::vector<std::string>{"PCIe gen 1 x16 now, gen 4 x16 at most"});
  EXPECT_TRUE(linkLines(links, {}).empty());
}

TEST(GpuLinks, WithoutNvmlTheMatrixIsUnknown) {
  EXPECT_EQ(linkLines({}, std::vector<int>{0, 1}),
            (std::vector<std::string>{"        cuda:0  cuda:1", "cuda:0  X       unknown", "cuda:1  unknown X",
                                      "peer access unknown, atomics unknown: all pairs",
                                      "PCIe gen unknown xunknown now, gen unknown xunknown at most"}));
}

}  // namespace
}  // namespace tandem

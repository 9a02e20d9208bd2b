#include "run/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"
#include "machine/cpu/host_facts.h"

namespace tandem {
namespace {

constexpr std::string_view cpuinfo =
    "processor\t: 0\nmodel name\t: Some(R) CPU @ 2.00GHz\nflags\t\t: fpu avx2 amx_bf16 avx512f avx512_bf16 sse\n"
    "bugs\t\t: none\n\nprocessor\t: 1\nmodel name\t: other\n";

TEST(HostFacts, ProcessorNameAndFeatures) {
  EXPECT_EQ(cpuModel(cpuinfo), "Some(R) CPU @ 2.00GHz");
  EXPECT_EQ(cpuFeatures(cpuinfo), (std::vector<std::string>{"avx2", "avx512f", "avx512_bf16", "amx_bf16"}));
  EXPECT_EQ(cpuKind(cpuinfo), "Some(R) CPU @ 2.00GHz with avx2 avx512f avx512_bf16 amx_bf16");
  EXPECT_EQ(
      cpuKind(concat("model : 17\ncpu family : 25\n", cpuinfo, "cache size : 1024 KB\n")),
      "Some(R) CPU @ 2.00GHz, cpu family 25, model 17, cache size 1024 KB with avx2 avx512f avx512_bf16 amx_bf16");
}

TEST(HostFacts, ProcessorOfArmListsFeaturesUnderAnotherName) {
  EXPECT_EQ(cpuFeatures("Features\t: fp asimd bf16\n"), (std::vector<std::string>{"asimd", "bf16"}));
}

TEST(HostFacts, UnreadableIsUnknown) {
  EXPECT_EQ(cpuModel(""), "unknown");
  EXPECT_EQ(osName("NAME=x"), "unknown");
  EXPECT_EQ(memoryField("", "MemTotal"), 0);
  EXPECT_EQ(textOf("/no/such/file"), "");
  EXPECT_EQ(textOf("/proc"), "") << "opens, but reading it fails, as the files of a process that has just ended do";
  EXPECT_EQ(versionNumber("no version here"), "unknown");
}

TEST(HostFacts, SystemNameIsUnquoted) {
  EXPECT_EQ(osName("NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            "Debian GNU/Linux 12 (bookworm)");
}

TEST(HostFacts, MemoryFieldsAreBytes) {
  EXPECT_EQ(memoryField("MemTotal:       24600000 kB\nMemFree: 5 kB\n", "MemTotal"), 24600000LL * 1024);
  EXPECT_EQ(memoryField("MemTotal: 2 kB\nMemFree: 5 kB\n", "MemFree"), 5 * 1024);
}

TEST(HostFacts, VersionNumberIsTheFirstDottedOne) {
  EXPECT_EQ(versionNumber("Intel(R) MKL-DNN v3.10.2 (Git Hash 12ab34)"), "3.10.2");
  EXPECT_EQ(versionNumber("build 7. of 2.9"), "2.9");
}

TEST(HostFacts, VariablesThatChangeResultsAreKept) {
  const std::map<std::string, std::string> kept{
      {"OMP_PROC_BIND", "close"},   {"MKL_NUM_THREADS", "1"},  {"MALLOC_ARENA_MAX", "2"},
      {"LD_PRELOAD", ""},           {"LD_AUDIT", "a.so"},      {"LD_LIBRARY_PATH", "/opt"},
      {"NCCL_ALGO", "Ring"},        {"TORCH_X", "1"},          {"ONEDNN_MAX_CPU_ISA", "AVX2"},
      {"DNNL_MAX_CPU_ISA", "AVX2"}, {"GLIBC_TUNABLES", "x=1"}, {"TANDEM_VECTORS", "avx2"}};
  std::vector<std::string> entries{"HOME=/home/x", "LDFLAGS=-g"};
  for (const auto& [name, value] : kept) entries.push_back(concat(name, "=", value));
  std::vector<const char*> variables;
  for (const std::string& entry : entries) variables.push_back(entry.c_str());
  variables.push_back(nullptr);
  EXPECT_EQ(resultVariables(variables.data()), kept);
}

TEST(HostFacts, PlacementOverrides) {
  EXPECT_TRUE(overridesPlacement("OMP_PROC_BIND"));
  EXPECT_TRUE(overridesPlacement("GOMP_CPU_AFFINITY"));
  EXPECT_TRUE(overridesPlacement("OMP_WAIT_POLICY"));
  EXPECT_FALSE(overridesPlacement("MALLOC_ARENA_MAX"));
  EXPECT_FALSE(overridesPlacement("OMP"));
}

TEST(Environment, OfThisMachineIsKnown) {
  setenv("OMP_DISPLAY_AFFINITY", "FALSE", 1);
  const auto environment = readEnvironment();
  EXPECT_GE(environment.cores, 1);
  EXPECT_GE(environment.hardwareThreads, environment.cores);
  EXPECT_GT(environment.memoryBytes, environment.memoryAvailableBytes);
  EXPECT_GT(environment.memoryAvailableBytes, 0);
  EXPECT_NE(environment.os, "unknown");
  EXPECT_FALSE(environment.governor.empty()) << "unknown where the system does not say";
  EXPECT_GE(environment.load1, 0);
  EXPECT_TRUE(environment.libraries.at("libtorch").starts_with("2."));
  EXPECT_NE(environment.libraries.at("oneDNN"), "unknown");
  EXPECT_EQ(environment.variables.at("OMP_DISPLAY_AFFINITY"), "FALSE");
  EXPECT_FALSE(environment.tandemVersion.empty());
}

}  // namespace
}  // namespace tandem

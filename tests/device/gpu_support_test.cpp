#include "device/gpu_support.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/catalog.h"
#include "base/text.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

constexpr std::string_view flags =
    "  - NVCC architecture flags: -gencode;arch=compute_90,code=sm_90;-gencode;arch=compute_75,code=sm_75;-gencode;"
    "arch=compute_100a,code=sm_100a;-gencode;arch=compute_120,code=compute_120\n";

GpuFacts gpuOf(int capability) {
  GpuFacts gpu;
  gpu.name = "Some GPU";
  gpu.capability = capability;
  return gpu;
}

/// A driver of CUDA 13.2 with two GPUs, a build with 13.0.
CudaFacts goodFacts() {
  CudaFacts facts;
  facts.built = true;
  facts.runtimeVersion = 13000;
  facts.driverVersion = 13020;
  facts.gpus = {gpuOf(90), gpuOf(75)};
  facts.libtorch = architecturesOfFlags(flags);
  facts.kernels = architecturesOfList("75-real;90-real;120");
  return facts;
}

TEST(Architectures, OfNvccsFlagsAreThoseOfWholePrograms) {
  EXPECT_EQ(architecturesOfFlags(flags),
            (std::vector<Architecture>{{75, true, false}, {90, true, false}, {120, false, true}}));
  EXPECT_TRUE(architecturesOfFlags("no flags here, arch=compute_80").empty());
}

TEST(Architectures, OfCMakesListAreMachineCodeAndPtxUnlessItSaysWhich) {
  EXPECT_EQ(architecturesOfList("100-virtual 80-real;90"),
            (std::vector<Architecture>{{80, true, false}, {90, true, true}, {100, false, true}}));
  EXPECT_TRUE(architecturesOfList("native").empty());
}

TEST(Architectures, MachineCodeServesNewerMinorNumbersAndPtxAllNewer) {
  const auto served = architecturesOfList("80-real 120");
  for (const int capability : {80, 86, 89, 120, 121, 130}) EXPECT_TRUE(runsOn(served, capability)) << capability;
  for (const int capability : {75, 90, 103}) EXPECT_FALSE(runsOn(served, capability)) << capability;
  EXPECT_TRUE(runsOn({}, 30)) << "not known: not judged";
  EXPECT_EQ(capabilitiesText(served), "8.0 and 12.0 and newer");
  EXPECT_EQ(capabilitiesText(architecturesOfList("75-real 86-real 100-real")), "7.5, 8.6 and 10.0");
  EXPECT_EQ(capabilitiesText({}), "unknown");
}

std::string textOf(const std::string& name) {
  std::ifstream file(concat(testsFolder(), "/../", name));
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Whether a cell of docs/GPUS.md says this.
bool documented(const std::string& capabilities) {
  return textOf("docs/GPUS.md").find(concat("| ", capabilities, " |")) != std::string::npos;
}

TEST(Architectures, TheDocumentStatesThoseOfTheKernels) {
  const std::string build = textOf("CMakeLists.txt");
  const std::string_view setting = "set(CMAKE_CUDA_ARCHITECTURES \"";
  const size_t begin = build.find(setting) + setting.size();
  const auto kernels = architecturesOfList(build.substr(begin, build.find('"', begin) - begin));
  EXPECT_TRUE(documented(capabilitiesText(kernels))) << capabilitiesText(kernels);
}

TEST(Architectures, TheDocumentStatesThoseOfLibtorch) {
  constexpr int pinned = 13000;
  if (cudaFacts().runtimeVersion != pinned) GTEST_SKIP() << "the pinned libtorch for GPUs is not at hand";
  EXPECT_TRUE(documented(capabilitiesText(cudaFacts().libtorch))) << capabilitiesText(cudaFacts().libtorch);
}

struct Case {
  void (*change)(CudaFacts&);
  int index;
  std::string expected;
};

TEST(GpuRefusal, IsOneLineThatSaysWhatToDo) {
  const std::vector<Case> cases{
      {[](CudaFacts& f) { f = CudaFacts(); }, 0,
       "--devices=cuda:0: this build has no CUDA; run one that has (make cuda, docs/GPUS.md), or use --devices=cpu"},
      {[](CudaFacts& f) { f.driverVersion = 0, f.failure = "CUDA driver version is insufficient"; }, 0,
       "--devices=cuda:0: there is no NVIDIA driver here (libcuda.so.1 is missing); install it, or use --devices=cpu"},
      {[](CudaFacts& f) { f.driverVersion = 12040, f.failure = "CUDA driver version is insufficient"; }, 0,
       "--devices=cuda:0: the NVIDIA driver serves CUDA up to 12.4, this build needs 13.0 or newer; install a newer "
       "driver, or use --devices=cpu"},
      {[](CudaFacts& f) { f.failure = "system not yet initialized"; }, 0,
       "--devices=cuda:0: CUDA cannot list the GPUs: system not yet initialized; see what nvidia-smi says, or use "
       "--devices=cpu"},
      {[](CudaFacts& f) { f.gpus.clear(), f.visible = ""; }, 0,
       "--devices=cuda:0: no NVIDIA GPU is found (CUDA_VISIBLE_DEVICES= hides all others); use --devices=cpu"},
      {[](CudaFacts& f) { f.visible = "4,5"; }, 2,
       "--devices=cuda:2: there are 2 GPUs here (CUDA_VISIBLE_DEVICES=4,5 hides all others); use an index from 0 to 1"},
      {[](CudaFacts& f) { f.gpus.pop_back(); }, -1, "--devices=cuda:-1: there is 1 GPU here; use an index from 0 to 0"},
      {[](CudaFacts& f) { f.gpus[1].capability = 61; }, 1,
       "--devices=cuda:1: Some GPU has compute capability 6.1, the libtorch of this build serves 7.5, 9.0 and 12.0 and "
       "newer; build with one that serves it (TANDEM_LIBTORCH, docs/GPUS.md), or use --devices=cpu"},
      {[](CudaFacts& f) { f.kernels = architecturesOfList("80-real"); }, 1,
       "--devices=cuda:1: Some GPU has compute capability 7.5, Tandem's kernels were built for 8.0; build them with "
       "-DCMAKE_CUDA_ARCHITECTURES=75 (docs/GPUS.md), or use --devices=cpu"},
      {[](CudaFacts& f) { f.gpus[0].prohibited = true; }, 0,
       "--devices=cuda:0: Some GPU is in compute mode Prohibited; let nvidia-smi --compute-mode=DEFAULT allow it, or "
       "use --devices=cpu"},
  };
  for (const Case& one : cases) {
    CudaFacts facts = goodFacts();
    EXPECT_EQ(gpuRefusal(facts, one.index < 0 || one.index > 1 ? 0 : one.index), "");
    one.change(facts);
    EXPECT_EQ(gpuRefusal(facts, one.index), one.expected);
  }
}

TEST(GpuRefusal, ADriverOfTheSameMajorVersionServes) {
  CudaFacts facts = goodFacts();
  facts.runtimeVersion = 13050;
  facts.driverVersion = 13000;
  EXPECT_EQ(gpuRefusal(facts, 0), "");
}

TEST(HalfPrecision, IsOneOf16BitsThatAllGpusComputeIn) {
  const Precision* best = halfPrecision(std::vector{gpuOf(90), gpuOf(80)});
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(c10::elementSize(best->compute), 2U);
  EXPECT_LE(best->capability, 80);
  const Precision* older = halfPrecision(std::vector{gpuOf(90), gpuOf(75)});
  ASSERT_NE(older, nullptr);
  EXPECT_EQ(older->name, "fp16");
  EXPECT_EQ(halfPrecision(std::vector{gpuOf(90), gpuOf(50)}), nullptr);
}

TEST(StatedPeaks, AreThoseOfTheDataSheets) {
  const auto peaksOf = [](const GpuFacts& gpu, std::string_view precision) {
    return statedPeaks(gpu, find(precisions(), precision, "--precision"));
  };
  GpuFacts h100 = gpuOf(90);  // SXM5
  h100.multiprocessors = 132, h100.coreKilohertz = 1'830'000;
  h100.memoryKilohertz = 2'619'000, h100.memoryBusBits = 5120;
  EXPECT_NEAR(peaksOf(h100, "bf16").flops, 989.4e12, 1e12);
  EXPECT_EQ(peaksOf(h100, "fp16").flops, peaksOf(h100, "bf16").flops);
  EXPECT_NEAR(peaksOf(h100, "tf32").flops, 494.7e12, 1e12);
  EXPECT_NEAR(peaksOf(h100, "fp32").flops, 61.8e12, 0.1e12);
  EXPECT_NEAR(peaksOf(h100, "fp32").bytes, 3.35e12, 0.01e12);
  GpuFacts a100 = gpuOf(80);  // 40 GB
  a100.multiprocessors = 108, a100.coreKilohertz = 1'410'000;
  a100.memoryKilohertz = 1'215'000, a100.memoryBusBits = 5120;
  EXPECT_NEAR(peaksOf(a100, "fp16").flops, 312e12, 0.5e12);
  EXPECT_NEAR(peaksOf(a100, "fp32").flops, 19.5e12, 0.1e12);
  EXPECT_NEAR(peaksOf(a100, "fp32").bytes, 1.555e12, 0.01e12);
}

TEST(StatedPeaks, OfWhatIsNotKnownAreNone) {
  GpuFacts gpu = gpuOf(86);
  gpu.multiprocessors = 82, gpu.coreKilohertz = 1'695'000;
  const Precision* half = halfPrecision({&gpu, 1});
  ASSERT_NE(half, nullptr);
  EXPECT_EQ(statedPeaks(gpu, *half).flops, 0) << "boards with one chip differ";
  EXPECT_NEAR(statedPeaks(gpu, precisions().front()).flops, 35.6e12, 0.1e12);
  EXPECT_EQ(statedPeaks(gpu, precisions().front()).bytes, 0);
  EXPECT_EQ(statedPeaks(gpuOf(75), precisions().front()).flops, 0);
}

}  // namespace
}  // namespace tandem

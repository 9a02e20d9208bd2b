#include <gtest/gtest.h>

#include "base/text.h"
#include "measure/record_example.h"
#include "report/analysis/comparison.h"
#include "report/published/nearest_published.h"
#include "report/published/published.h"
#include "support/contains.h"

namespace tandem {
namespace {

/// ResNet-50 on `gpus` GPUs that call themselves `name`, 16 images each and 160 images/s in all.
RunRecord onGpus(int64_t gpus, const std::string& name) {
  RunRecord record = exampleRecord(1, "replicated", 100);
  record.config.placement.replicas = gpus;
  record.config.placement.devices = "cuda:0";
  record.config.network.imageSize = record.placement.ownImageSize = 224;
  record.config.input.source = "device";
  record.placement.replicas.assign(static_cast<size_t>(gpus), "cuda:0 " + name);
  record.placement.layout = "nchw";
  record.globalBatch = 16;
  return record;
}

std::string linesOf(const RunRecord& record) { return join(howItComparesLines(record), "\n"); }

TEST(IsDevice, GoesByTheWordThatTellsTheModel) {
  for (const auto& [name, published] :
       std::vector<std::pair<std::string, std::string>>{{"Tesla P100-SXM2-16GB", "P100"},
                                                        {"NVIDIA H200", "H200 SXM"},
                                                        {"NVIDIA A100-SXM4-80GB", "A100-80 SXM"},
                                                        {"NVIDIA GeForce GTX 1070", "GTX 1070"},
                                                        {"Tesla V100-SXM2-32GB", "V100 16GB"},
                                                        {"Intel(R) Xeon(R) Platinum 8480+", "2x Xeon 8480+"}}) {
    EXPECT_TRUE(isDevice(name, published)) << name;
  }
  for (const auto& [name, published] :
       std::vector<std::pair<std::string, std::string>>{{"NVIDIA GeForce GTX 1070 Ti", "GTX 1070"},
                                                        {"NVIDIA H100 80GB HBM3", "H200 SXM"},
                                                        {"Tesla P100-SXM2-16GB", "P10"},
                                                        {"Intel(R) Xeon(R) Platinum 8480", "2x Xeon 8480+"},
                                                        {"NVIDIA", "K80"},
                                                        {"", "K80"}}) {
    EXPECT_FALSE(isDevice(name, published)) << name;
  }
}

TEST(Standing, AKnownDeviceIsSetBesideTheNearestPublishedFigure) {
  const std::string text = linesOf(onGpus(1, "Tesla P100-SXM2-16GB"));
  EXPECT_TRUE(contains(text,
                       "160.00 images/s = 82.1 % of 195.00 images/s (tf_cnn_benchmarks, 1 x P100; "
                       "rossumai/keras-multi-gpu: sheet of the official TensorFlow benchmarks, 2017)"))
      << text;
  EXPECT_TRUE(contains(text, "; differs: batch 16/32")) << text;
  EXPECT_FALSE(contains(text, "ceiling")) << "no peak of it is known: " << text;
}

TEST(Standing, OfEquallyNearFiguresTheHighestIsTaken) {
  // One P100 in fp32 and NCHW with 64 synthetic images, replicated: 228 and 225.73 images/s.
  RunRecord record = onGpus(1, "Tesla P100-SXM2-16GB");
  record.globalBatch = 64;
  const std::string text = linesOf(record);
  EXPECT_TRUE(contains(text, "640.00 images/s = 280.7 % of 228.00 images/s (tensorpack, 1 x P100; ")) << text;
  EXPECT_FALSE(contains(text, "differs")) << text;
}

TEST(Standing, NearIsFirstTheNumberOfDevicesThenThePrecisionThenTheBatch) {
  EXPECT_TRUE(contains(linesOf(onGpus(8, "Tesla P100-SXM2-16GB")), "8 x P100")) << linesOf(onGpus(8, "Tesla P100"));
  RunRecord record = onGpus(8, "Tesla V100-SXM2-16GB");
  record.config.numerics.precision = "bf16";
  record.globalBatch = 8 * 128;
  EXPECT_TRUE(contains(linesOf(record), "of 9225.00 images/s")) << linesOf(record);
  record.globalBatch = 8 * 64;
  EXPECT_TRUE(contains(linesOf(record), "of 5224.00 images/s")) << linesOf(record);
  EXPECT_TRUE(contains(linesOf(record), "differs: precision bf16/fp16")) << linesOf(record);
}

TEST(Standing, WithAnotherNumberOfDevicesThePartsOfADeviceAreCompared) {
  RunRecord record = onGpus(16, "Tesla P100-SXM2-16GB");
  record.globalBatch = 16 * 64;
  record.window = 20 * record.window;  // 512 images/s, 32 of each; 8 have 1612 in all
  const std::string text = linesOf(record);
  EXPECT_TRUE(contains(text, "512.00 images/s = 15.9 % of 201.50 images/s per device (tensorpack, 8 x P100")) << text;
  EXPECT_TRUE(contains(text, "differs: devices 16/8")) << text;
}

TEST(Standing, TheWholeMachineIsOneDeviceOfCpus) {
  RunRecord record = exampleRecord(2, "replicated", 99);
  record.environment.cpu = "Intel(R) Xeon(R) Platinum 8480+";
  record.config.network.imageSize = record.placement.ownImageSize = 224;
  record.config.numerics.precision = "bf16";
  const std::string text = linesOf(record);
  EXPECT_TRUE(contains(text, "images/s per device (PyTorch+IPEX, 16 x 2x Xeon 8480+")) << text;
  EXPECT_TRUE(contains(text, "devices 1/16")) << text;
}

TEST(Standing, AliasesAndVersionsOfANetworkAreFound) {
  RunRecord record = onGpus(1, "Tesla M60");
  record.config.network.model = "inception_v3";
  record.config.network.imageSize = record.placement.ownImageSize = 299;
  EXPECT_TRUE(contains(linesOf(record), "1 x Tesla M60")) << linesOf(record);
  EXPECT_FALSE(contains(linesOf(record), "model")) << linesOf(record);
  record = onGpus(1, "NVIDIA H200");
  EXPECT_FALSE(contains(linesOf(record), "model")) << "resnet50 is v1.5: " << linesOf(record);
  record.config.network.model = "resnet50_v1";
  EXPECT_TRUE(contains(linesOf(record), "model resnet50_v1/resnet50_v1.5")) << linesOf(record);
}

TEST(Standing, OtherWorkAnUnknownDeviceAndAnUnfinishedRunHaveNoFigure) {
  RunRecord record = onGpus(1, "Tesla P100-SXM2-16GB");
  record.config.network.imageSize = 160;
  EXPECT_EQ(linesOf(record), "");
  record = onGpus(1, "Tesla P100-SXM2-16GB");
  record.config.network.imageSize = record.placement.ownImageSize = 0;
  EXPECT_EQ(linesOf(record), "") << "its own size is not known";
  record = onGpus(1, "Tesla P100-SXM2-16GB");
  record.config.step.forwardOnly = true;
  EXPECT_EQ(linesOf(record), "");
  EXPECT_EQ(linesOf(onGpus(1, "Imaginary 9000")), "");
  record = onGpus(1, "Tesla P100-SXM2-16GB");
  record.outcome = {OutcomeKind::failed, ExitCode::peer, "gone"};
  EXPECT_EQ(linesOf(record), "");
  EXPECT_TRUE(howItComparesTables(ReportRuns(std::array{record})).empty());
}

TEST(Standing, AnUnknownDeviceHasItsCeilingsAlone) {
  RunRecord record = exampleRecord(1, "replicated", 100);
  record.environment.cpu = "AMD EPYC";
  record.config.network.imageSize = 224;
  record.placement.flopsPerImage = 2e9;
  record.placement.bytesPerStep = 4e9;
  record.flopsPeak = 500e9;
  record.bytesPeak = 50e9;
  EXPECT_EQ(linesOf(record),
            "160.00 images/s = 64.0 % of 250.00 images/s, the ceiling of FLOPs (500.0 GFLOP/s), and 80.0 % of 200.00 "
            "images/s, the ceiling of bytes (50.0 GB/s)");
  const auto tables = howItComparesTables(ReportRuns(std::array{record}));
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(join(tables[0].rows.at(0).cells, " "), "1 160.00 320.0 250.00 64.0 40.0 200.00 80.0 bytes");
  record.flopsPeak = 0;
  EXPECT_EQ(howItComparesTables(ReportRuns(std::array{record}))[0].rows.at(0).cells.back(), "")
      << "which is nearer is not known";
}

}  // namespace
}  // namespace tandem

#include "device/precision.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "base/catalog.h"
#include "support/precisions.h"

namespace tandem {
namespace {

std::string refusal(std::optional<int> capability, std::string_view precision) {
  return whyNotOn(capability, find(precisions(), precision, "precision")).value_or("served");
}

TEST(Precision, EachIsRefusedWhereTheDeviceDoesNotServeIt) {
  EXPECT_EQ(
      refusal({}, "tf32"),
      "tf32 needs a GPU of compute capability 8.0 or higher, this is a CPU; use --precision=fp32 or bf16 or fp16");
  EXPECT_EQ(refusal(75, "bf16"),
            "bf16 needs a GPU of compute capability 8.0 or higher, this GPU has 7.5; use --precision=fp32 or fp16");
  EXPECT_NE(refusal(75, "tf32"), "served");
  EXPECT_NE(refusal(52, "fp16"), "served");
  for (const Precision& row : precisions()) {
    EXPECT_EQ(refusal(80, row.name), "served");
    EXPECT_EQ(refusal(90, row.name), "served");
    EXPECT_EQ(refusal({}, row.name) == "served", row.onCpu);
  }
  for (const int capability : {52, 53, 70, 75}) EXPECT_EQ(refusal(capability, "fp32"), "served");
  for (const char* name : {"fp32", "bf16", "fp16"}) EXPECT_EQ(refusal({}, name), "served");
}

TEST(Precision, OfSixteenBitsThatWithTheShortExponentScalesItsLoss) {
  for (const Precision& row : precisions()) EXPECT_EQ(row.lossScaling, row.wire == at::kHalf) << row.name;
}

TEST(Precision, GradientsOfAnotherTypeScaleTheLossAndLoseBitsWhereTheirTypeSaysSo) {
  for (const Precision& row : precisions()) {
    EXPECT_FALSE(roundsGradients(row)) << row.name;
    for (const GradientPrecision& type : gradientPrecisions()) {
      const Precision& other = withGradients(row, type);
      EXPECT_EQ(other.name, row.name);
      EXPECT_EQ(other.compute, row.compute);
      EXPECT_EQ(other.wire, type.type);
      EXPECT_EQ(other.lossScaling, row.compute == at::kHalf || type.type == at::kHalf) << row.name << ' ' << type.name;
      EXPECT_EQ(roundsGradients(other), type.type != row.compute && type.type != at::kFloat);
      EXPECT_EQ(gradientPrecisionOf(other.wire).name, type.name);
    }
  }
}

TEST(Precision, Tf32IsAllowedInBothLibrariesOrInNone) {
  for (const bool allowed : {true, false}) {
    allowTf32(allowed);
    EXPECT_EQ(at::globalContext().allowTF32CuDNN(at::Float32Op::CONV), allowed);
    EXPECT_EQ(at::globalContext().allowTF32CuBLAS(), allowed);
  }
}

}  // namespace
}  // namespace tandem

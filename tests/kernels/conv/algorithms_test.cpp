#include "kernels/conv/algorithms.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "kernels/conv/wgrad_gemm.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

TEST(Gemm, ServesOnlyWhatItIsFor) {
  if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  const at::Tensor weight = at::zeros({32, 16, 3, 3}).contiguous(channelsLast);
  const ConvolutionParameters parameters{weight, {}, at::empty_like(weight), {}};
  ConvolutionGeometry grouped, blocked;
  grouped.groups = 2, blocked.blockedOutput = true;
  EXPECT_NE(makeGemmConvolution({}, parameters), nullptr);
  EXPECT_EQ(makeGemmConvolution(grouped, parameters), nullptr);
  EXPECT_EQ(makeGemmConvolution(blocked, parameters), nullptr);
}

TEST(Winograd, ServesOnlyWhatItIsFor) {
  struct Row {
    std::vector<int64_t> weight;
    ConvolutionGeometry geometry;
    at::ScalarType type;
    bool served;
  };
  const ConvolutionGeometry same{1, 1, 1, 1, 1, 1, 1};
  ConvolutionGeometry strided = same, grouped = same, far = same;
  strided.strideW = 2, grouped.groups = 2, far.bottom = 3;
  for (const Row& row : {Row{{32, 16, 3, 3}, same, at::kFloat, true}, Row{{32, 16, 3, 3}, same, at::kBFloat16, true},
                         Row{{32, 16, 3, 3}, same, at::kHalf, false}, Row{{32, 16, 3, 3}, strided, at::kFloat, false},
                         Row{{32, 16, 3, 3}, grouped, at::kFloat, false}, Row{{32, 16, 3, 3}, far, at::kFloat, false},
                         Row{{32, 16, 1, 3}, same, at::kFloat, false}, Row{{32, 4, 3, 3}, same, at::kFloat, false},
                         Row{{20, 16, 3, 3}, same, at::kFloat, false}}) {
    const at::Tensor weight = at::zeros(row.weight, row.type).contiguous(channelsLast);
    EXPECT_EQ(makeWinogradConvolution(row.geometry, {weight, {}, at::empty_like(weight), {}}) != nullptr, row.served);
  }
}

TEST(Winograd, ServesBlocksOfAVectorInBothPrecisions) {
  ConvolutionGeometry blocked{1, 1, 1, 1, 1, 1, 1};
  blocked.blockedOutput = true;
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const at::Tensor weight = at::zeros({32, 16, 3, 3}, type).contiguous(channelsLast);
    EXPECT_TRUE(makeWinogradConvolution(blocked, {weight, {}, at::empty_like(weight), {}}));
  }
}

TEST(Packed, ServesOnlyWhatItIsFor) {
  if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  struct Row {
    std::vector<int64_t> weight;
    at::ScalarType type;
    int64_t groups;
    bool served;
  };
  for (const Row& row :
       {Row{{7, 5, 3, 1}, at::kFloat, 1, true}, Row{{32, 16, 1, 1}, at::kBFloat16, 1, packed::cpu::takesBf16()},
        Row{{32, 16, 1, 1}, at::kFloat, 2, false}, Row{{32, 16, 1, 1}, at::kHalf, 1, false}}) {
    const at::Tensor weight = at::zeros(row.weight, row.type).contiguous(channelsLast);
    ConvolutionGeometry geometry;
    geometry.groups = row.groups;
    EXPECT_EQ(makePackedConvolution(geometry, {weight, {}, at::empty_like(weight), {}}) != nullptr, row.served);
  }
}

TEST(Pointwise, ServesOnlyWhatItIsFor) {
  if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  struct Row {
    std::vector<int64_t> weight;
    ConvolutionGeometry geometry;
    at::ScalarType type;
    bool bias, served;
  };
  ConvolutionGeometry strided, padded, grouped;
  strided.strideH = 3, padded.left = 1, grouped.groups = 2;
  for (const Row& row :
       {Row{{32, 16, 1, 1}, {}, at::kFloat, false, true}, Row{{32, 16, 1, 1}, strided, at::kFloat, false, true},
        Row{{32, 16, 1, 1}, {}, at::kFloat, true, false}, Row{{32, 16, 1, 1}, {}, at::kBFloat16, false, false},
        Row{{32, 16, 1, 1}, padded, at::kFloat, false, false}, Row{{32, 16, 1, 1}, grouped, at::kFloat, false, false},
        Row{{32, 16, 1, 3}, {}, at::kFloat, false, false}, Row{{32, 20, 1, 1}, {}, at::kFloat, false, false},
        Row{{20, 16, 1, 1}, {}, at::kFloat, false, false}}) {
    const at::Tensor weight = at::zeros(row.weight, row.type).contiguous(channelsLast);
    const at::Tensor bias = row.bias ? at::zeros({row.weight[0]}, row.type) : at::Tensor();
    EXPECT_EQ(makePointwiseConvolution(row.geometry, {weight, bias, at::empty_like(weight), bias}) != nullptr,
              row.served);
  }
}

TEST(Depthwise, ServesOnlyWhatItIsFor) {
  struct Row {
    std::vector<int64_t> weight;
    int64_t groups, strideH, strideW;
    at::ScalarType type;
    bool served;
  };
  for (const Row& row :
       {Row{{32, 1, 3, 3}, 32, 1, 1, at::kFloat, true}, Row{{32, 1, 7, 5}, 32, 2, 2, at::kBFloat16, true},
        Row{{32, 1, 3, 3}, 32, 1, 1, at::kHalf, false}, Row{{32, 1, 3, 3}, 32, 1, 2, at::kFloat, false},
        Row{{32, 1, 3, 3}, 32, 3, 3, at::kFloat, false}, Row{{32, 1, 3, 4}, 32, 1, 1, at::kFloat, false},
        Row{{32, 1, 9, 3}, 32, 1, 1, at::kFloat, false}, Row{{64, 1, 3, 3}, 32, 1, 1, at::kFloat, false},
        Row{{32, 2, 3, 3}, 16, 1, 1, at::kFloat, false}, Row{{20, 1, 3, 3}, 20, 1, 1, at::kFloat, false}}) {
    const at::Tensor weight = at::zeros(row.weight, row.type).contiguous(channelsLast);
    ConvolutionGeometry geometry;
    geometry.groups = row.groups, geometry.strideH = row.strideH, geometry.strideW = row.strideW;
    EXPECT_EQ(makeDepthwiseConvolution(geometry, {weight, {}, at::empty_like(weight), {}}) != nullptr, row.served)
        << at::IntArrayRef(row.weight) << " groups " << row.groups << " stride " << row.strideH << ',' << row.strideW;
  }
}

}  // namespace
}  // namespace tandem

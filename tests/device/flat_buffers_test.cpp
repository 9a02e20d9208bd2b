#include "device/flat_buffers.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/catalog.h"
namespace tandem {
namespace {

constexpr auto nhwc = at::MemoryFormat::ChannelsLast;

std::vector<ParameterSpec> specs() {
  return {{"fc.bias", {11}, false}, {"fc.weight", {11, 5}, false},        {"bn.weight", {5}, true},
          {"bn.bias", {5}, true},   {"conv.weight", {5, 3, 3, 2}, false}, {"point.weight", {3, 1, 1, 1}, false}};
}

class EveryPrecision : public testing::TestWithParam<std::string_view> {
 protected:
  const Precision& precision() const {
    for (const Precision& row : precisions()) {
      if (row.name == GetParam()) return row;
    }
    throw std::logic_error("no such precision");
  }
  FlatBuffers buffers(at::MemoryFormat format = nhwc) const { return {specs(), precision(), at::kCPU, format}; }
};

TEST_P(EveryPrecision, SlicesAreAlignedInEveryBufferAndInTheOrderGiven) {
  FlatBuffers flat = buffers();
  std::vector<int64_t> end(static_cast<size_t>(flat.segments()));
  for (int i = 0; i < flat.parameters(); ++i) {
    const Slice slice = flat.slice(i);
    EXPECT_GE(slice.begin, end[static_cast<size_t>(slice.segment)]);
    end[static_cast<size_t>(slice.segment)] = slice.end;
    for (const auto& tensor : {flat.master(slice), flat.weights(slice), flat.gradient(slice), flat.state(1, slice)}) {
      EXPECT_EQ(tensor.numel(), slice.count());
      EXPECT_EQ(slice.begin * static_cast<int64_t>(tensor.element_size()) % 64, 0) << flat.spec(i).name;
    }
  }
  for (int segment = 0; segment < flat.segments(); ++segment) {
    EXPECT_LE(end[static_cast<size_t>(segment)], flat.whole(segment).end);
  }
}

TEST_P(EveryPrecision, BatchNormStaysFp32InASegmentOfItsOwn) {
  FlatBuffers flat = buffers();
  EXPECT_EQ(flat.segments(), precision().compute == at::kFloat ? 1 : 2);
  for (int i = 0; i < flat.parameters(); ++i) {
    const auto expected = flat.spec(i).fp32 ? at::kFloat : precision().compute;
    EXPECT_EQ(flat.weightView(i).scalar_type(), expected) << flat.spec(i).name;
    EXPECT_EQ(flat.gradientView(i).scalar_type(), flat.spec(i).fp32 ? at::kFloat : precision().wire);
    EXPECT_EQ(flat.masterView(i).scalar_type(), at::kFloat);
    EXPECT_EQ(flat.slice(i).segment, flat.spec(i).fp32 && flat.segments() == 2 ? 1 : 0);
  }
}

TEST_P(EveryPrecision, ViewsHaveTheParametersShapeAndAliasTheSlice) {
  for (const auto format : {nhwc, at::MemoryFormat::Contiguous}) {
    FlatBuffers flat = buffers(format);
    for (int i = 0; i < flat.parameters(); ++i) {
      EXPECT_EQ(flat.gradientView(i).sizes(), at::IntArrayRef(flat.spec(i).shape));
      flat.gradientView(i).fill_(i + 1);
      EXPECT_TRUE(flat.gradient(flat.slice(i)).eq(i + 1).all().item<bool>()) << flat.spec(i).name;
    }
    for (int i = 0; i < flat.parameters(); ++i) {
      EXPECT_TRUE(flat.gradientView(i).eq(i + 1).all().item<bool>()) << "overwritten by another: " << flat.spec(i).name;
    }
  }
}

TEST_P(EveryPrecision, ConvolutionWeightsLieInTheFormatAskedFor) {
  const int conv = buffers().indexOf("conv.weight"), point = buffers().indexOf("point.weight");
  EXPECT_EQ(buffers(nhwc).masterView(conv).strides(), at::IntArrayRef({18, 1, 6, 3}));
  EXPECT_EQ(buffers(nhwc).masterView(point).strides(), at::IntArrayRef({1, 1, 1, 1}));
  EXPECT_EQ(buffers(at::MemoryFormat::Contiguous).masterView(conv).strides(), at::IntArrayRef({18, 6, 2, 1}));
}

TEST(FlatBuffersInBlocks, OutputChannelsOfABlockLieSideBySide) {
  const Precision& fp32 = find(precisions(), "fp32", "precision");
  FlatBuffers flat({{"bias", {32}}, {"weight", {32, 48, 3, 5}, false, 16}}, fp32, at::kCPU,
                   at::MemoryFormat::ChannelsLast);
  at::Tensor view = flat.masterView(1);
  ASSERT_EQ(view.sizes(), at::IntArrayRef({2, 16, 3, 16, 3, 5}));
  const at::Tensor values = at::arange(32 * 48 * 3 * 5, at::kFloat).view({32, 48, 3, 5});
  view.copy_(values.view(view.sizes()));
  EXPECT_TRUE(view.reshape({32, 48, 3, 5}).equal(values));
  // Output 16 + 2, input 32 + 7, row 1, column 4: block (1, 2), pixel (1, 4), then 7 of in, 2 of out.
  const int64_t at = (((1 * 3 + 2) * 3 + 1) * 5 + 4) * 256 + 7 * 16 + 2;
  EXPECT_EQ(flat.master(flat.slice(1))[at].item<float>(), values[18][39][1][4].item<float>());
}

TEST_P(EveryPrecision, PaddingIsZeroAndStaysZero) {
  FlatBuffers flat = buffers();
  double written = 0;
  for (int i = 0; i < flat.parameters(); ++i) {
    flat.masterView(i).fill_(1);
    written += static_cast<double>(flat.slice(i).count());
  }
  flat.refreshWeights();
  double sum = 0, weights = 0;
  for (int segment = 0; segment < flat.segments(); ++segment) {
    sum += flat.master(flat.whole(segment)).sum().item<double>();
    weights += flat.weights(flat.whole(segment)).sum(at::kDouble).item<double>();
    EXPECT_EQ(flat.gradient(flat.whole(segment)).abs().sum().item<double>(), 0);
  }
  EXPECT_EQ(sum, written);
  EXPECT_EQ(weights, written);
}

TEST_P(EveryPrecision, RefreshRoundsMasterIntoWeights) {
  FlatBuffers flat = buffers();
  for (int i = 0; i < flat.parameters(); ++i) flat.masterView(i).copy_(at::randn(flat.spec(i).shape));
  flat.refreshWeights();
  for (int i = 0; i < flat.parameters(); ++i) {
    EXPECT_TRUE(at::equal(flat.weightView(i), flat.masterView(i).to(flat.weightView(i).scalar_type())));
  }
  const Slice conv = flat.slice(flat.indexOf("conv.weight"));
  EXPECT_EQ(flat.weights(conv).data_ptr() == flat.master(conv).data_ptr(), precision().compute == at::kFloat);
}

TEST_P(EveryPrecision, ListsTheParametersInASlice) {
  FlatBuffers flat = buffers();
  std::vector<int> all;
  for (int segment = 0; segment < flat.segments(); ++segment) {
    const auto inside = flat.parametersIn(flat.whole(segment));
    all.insert(all.end(), inside.begin(), inside.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  for (int i = 0; i < flat.parameters(); ++i) EXPECT_EQ(flat.parametersIn(flat.slice(i)), std::vector<int>{i});
  Slice cutShort = flat.slice(0);
  --cutShort.end;
  EXPECT_TRUE(flat.parametersIn(cutShort).empty()) << "a parameter that is cut does not lie in the slice";
  const Slice bucket{0, flat.slice(0).begin, flat.slice(1).end};
  EXPECT_EQ(flat.parametersIn(bucket), (std::vector<int>{0, 1}));
}

TEST_P(EveryPrecision, FindsParametersByName) {
  EXPECT_EQ(buffers().indexOf("bn.bias"), 3);
  EXPECT_EQ(buffers().indexOf("bn"), -1);
}

TEST_P(EveryPrecision, StateIsZeroAtFirstUseAndThenKept) {
  FlatBuffers flat = buffers();
  const int64_t without = flat.bytes();
  EXPECT_EQ(flat.state(0, flat.whole(0)).abs().sum().item<double>(), 0);
  flat.state(0, flat.slice(0)).fill_(3);
  EXPECT_EQ(flat.bytes(), without + 4 * flat.whole(0).count());
  EXPECT_EQ(flat.state(1, flat.slice(0)).abs().sum().item<double>(), 0) << "values do not share memory";
  EXPECT_EQ(flat.state(0, flat.slice(0)).sum().item<double>(), 33);
}

TEST_P(EveryPrecision, StateCanBeAllocatedBeforeItIsUsed) {
  FlatBuffers flat = buffers();
  const int64_t without = flat.bytes();
  flat.allocateState(0);
  EXPECT_EQ(flat.bytes(), without);
  flat.allocateState(2);
  const int64_t with = flat.bytes();
  for (int segment = 0; segment < flat.segments(); ++segment) {
    flat.state(0, flat.whole(segment));
    flat.state(1, flat.whole(segment));
  }
  EXPECT_GT(with, without);
  EXPECT_EQ(flat.bytes(), with);
}

TEST_P(EveryPrecision, SharedParametersAreOneMemoryAndGradientsAreNot) {
  FlatBuffers first = buffers(), second = buffers();
  first.state(0, first.whole(0)).fill_(3);
  second.shareParameters(first);
  for (int i = 0; i < first.parameters(); ++i) {
    first.masterView(i).fill_(i + 1);
    first.gradientView(i).fill_(10);
    second.gradientView(i).fill_(20);
  }
  first.refreshWeights();
  for (int i = 0; i < first.parameters(); ++i) {
    EXPECT_TRUE(second.masterView(i).eq(i + 1).all().item<bool>());
    EXPECT_TRUE(second.weightView(i).eq(i + 1).all().item<bool>());
    EXPECT_TRUE(first.gradientView(i).eq(10).all().item<bool>());
  }
  EXPECT_TRUE(second.state(0, second.whole(0)).eq(3).all().item<bool>());
}

TEST_P(EveryPrecision, OtherParametersCannotBeShared) {
  FlatBuffers flat = buffers();
  EXPECT_ANY_THROW(flat.shareParameters(FlatBuffers({{"w", {3}, false}}, precision(), at::kCPU, nhwc)));
}

TEST_P(EveryPrecision, GradientsMoveIntoGivenMemory) {
  FlatBuffers flat = buffers();
  std::vector<at::Tensor> given;
  flat.moveGradients([&](int64_t count, at::ScalarType type) {
    given.push_back(at::full({count}, 7, type));
    return given.back();
  });
  ASSERT_EQ(given.size(), static_cast<size_t>(flat.segments()));
  for (int segment = 0; segment < flat.segments(); ++segment) {
    const at::Tensor gradient = flat.gradient(flat.whole(segment)), old = given[static_cast<size_t>(segment)];
    EXPECT_EQ(gradient.data_ptr(), old.data_ptr());
    EXPECT_EQ(gradient.scalar_type(), buffers().gradient(flat.whole(segment)).scalar_type());
    EXPECT_TRUE(gradient.eq(0).all().item<bool>());
  }
  for (int i = 0; i < flat.parameters(); ++i) flat.gradientView(i).fill_(i + 1);
  for (int i = 0; i < flat.parameters(); ++i) EXPECT_TRUE(flat.gradient(flat.slice(i)).eq(i + 1).all().item<bool>());
  flat.moveGradients([](int64_t, at::ScalarType) { return at::Tensor(); });
  EXPECT_EQ(flat.gradient(flat.whole(0)).data_ptr(), given[0].data_ptr()) << "where none is given they stay";
}

INSTANTIATE_TEST_SUITE_P(Catalog, EveryPrecision, testing::ValuesIn([] {
                           std::vector<std::string_view> names;
                           for (const Precision& row : precisions()) names.push_back(row.name);
                           return names;
                         }()),
                         [](const auto& info) { return std::string(info.param); });

// What references train in.
TEST(FlatBuffers, MastersHaveThePrecisionsType) {
  constexpr Precision fp64{"fp64", "", at::kDouble, at::kDouble, at::kDouble, false};
  FlatBuffers flat(specs(), fp64, at::kCPU, nhwc);
  EXPECT_EQ(flat.segments(), 1) << "nothing has another type";
  for (const at::Tensor& tensor : {flat.masterView(2), flat.weightView(2), flat.gradientView(2)}) {
    EXPECT_EQ(tensor.scalar_type(), at::kDouble);
  }
  EXPECT_EQ(flat.state(0, flat.whole(0)).scalar_type(), at::kDouble);
  EXPECT_EQ(flat.masterView(0).data_ptr(), flat.weightView(0).data_ptr());
}

// Backward writes in the type that it computes in, and gradients travel in another one.
TEST(FlatBuffers, GradientsAreRoundedForTheExchange) {
  const Precision& fp32 = precisions().front();
  for (const GradientPrecision& type : gradientPrecisions()) {
    FlatBuffers flat(specs(), withGradients(fp32, type), at::kCPU, nhwc);
    const Slice whole = flat.whole(0);
    const at::Tensor values = at::sin(at::arange(whole.count(), at::kFloat));
    EXPECT_EQ(flat.gradientView(0).scalar_type(), at::kFloat) << type.name;
    EXPECT_EQ(flat.gradient(whole).scalar_type(), type.type);
    flat.written(whole).copy_(values);
    flat.roundGradients({&whole, 1});
    EXPECT_TRUE(at::equal(flat.gradient(whole), values.to(type.type))) << type.name;
    EXPECT_TRUE(at::equal(flat.written(whole), values)) << type.name;
    EXPECT_EQ(flat.bytes(), whole.count() * (type.type == at::kFloat ? 8 : 10)) << "masters, written, rounded";
  }
}

TEST(FlatBuffers, RoundedGradientsMoveAloneAndStayWhenParametersAreShared) {
  const Precision& rounded = withGradients(precisions().front(), gradientPrecisionOf(at::kBFloat16));
  FlatBuffers first(specs(), rounded, at::kCPU, nhwc), second(specs(), rounded, at::kCPU, nhwc);
  const Slice whole = first.whole(0);
  const void* const written = second.written(whole).data_ptr();
  second.shareParameters(first);
  second.moveGradients([](int64_t count, at::ScalarType type) { return at::full({count}, 7, type); });
  EXPECT_EQ(second.written(whole).data_ptr(), written);
  second.gradientView(0).fill_(3);
  const Slice slice = second.slice(0);
  second.roundGradients({&slice, 1});
  EXPECT_TRUE(second.gradient(slice).eq(3).all().item<bool>());
  EXPECT_EQ(second.gradient(slice).scalar_type(), at::kBFloat16);
}

TEST(FlatBuffers, BuffersThatNoBackwardWritesHaveNoMemoryForIt) {
  const Precision& rounded = withGradients(precisions().front(), gradientPrecisionOf(at::kBFloat16));
  const FlatBuffers server(specs(), rounded, at::kCPU, nhwc, {.backwardWrites = false});
  EXPECT_EQ(server.written(server.whole(0)).data_ptr(), server.gradient(server.whole(0)).data_ptr());
}

TEST(FlatBuffers, HaveOneSegmentWhenNothingStaysFp32) {
  FlatBuffers flat({{"w", {3}, false}}, precisions()[1], at::kCPU, nhwc);
  EXPECT_EQ(flat.segments(), 1);
  EXPECT_EQ(flat.weightView(0).scalar_type(), at::kBFloat16);
}

}  // namespace
}  // namespace tandem

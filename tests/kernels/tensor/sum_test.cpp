#include "kernels/tensor/sum.h"

#include "support/test_devices.h"

namespace tandem {
namespace {

using Case = std::tuple<int64_t, int, at::ScalarType>;

class SumInto : public testing::TestWithParam<Case> {
 protected:
  std::vector<at::Tensor> sources(at::Device device) const {
    const auto [count, number, type] = GetParam();
    at::manual_seed(4);
    std::vector<at::Tensor> tensors;
    for (int i = 0; i < number; ++i) tensors.push_back(at::randn({count}).to(device, type));
    return tensors;
  }
};

TEST_P(SumInto, EqualsTheReferenceBitForBit) {
  for (const at::Device device : testDevices()) {
    const auto given = sources(device);
    at::Tensor actual = at::empty_like(given[0]), expected = at::empty_like(given[0]);
    sumInto(actual, given);
    sumIntoReference(expected, given);
    EXPECT_TRUE(at::equal(actual, expected)) << device;
  }
}

TEST_P(SumInto, MayWriteIntoAnyOfItsSources) {
  for (const at::Device device : testDevices()) {
    for (size_t target = 0; target < sources(device).size(); ++target) {
      const auto given = sources(device);
      at::Tensor expected = at::empty_like(given[0]);
      sumIntoReference(expected, given);
      sumInto(given[target], given);
      EXPECT_TRUE(at::equal(given[target], expected)) << target << " on " << device;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, SumInto,
                         testing::Combine(testing::Values(1, 17, 1024, 1025, 100003), testing::Values(1, 2, 3, 8),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf)));

TEST(SumInto, SumsASliceAndTouchesNothingBesideIt) {
  for (const at::Device device : testDevices()) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      const at::Tensor a = at::randn({100}).to(device, type), b = at::randn({100}).to(device, type);
      at::Tensor out = at::zeros({100}, at::device(device).dtype(type)), expected = out.clone();
      const auto cut = [](const at::Tensor& t) { return t.narrow(0, 3, 51); };
      sumInto(cut(out), std::vector{cut(a), cut(b)});
      sumIntoReference(cut(expected), std::vector{cut(a), cut(b)});
      EXPECT_TRUE(at::equal(out, expected)) << device;
    }
  }
}

TEST(SumInto, AddsInTheOrderGiven) {
  for (const at::Device device : testDevices()) {
    const auto one = [&](float value) { return at::full({5}, value, device); };
    at::Tensor out = at::empty({5}, device);
    sumInto(out, std::vector{one(1e8F), one(-1e8F), one(1)});
    EXPECT_TRUE(out.eq(1).all().item<bool>()) << device;
    sumInto(out, std::vector{one(1), one(1e8F), one(-1e8F)});
    EXPECT_TRUE(out.eq(0).all().item<bool>()) << device;
  }
}

TEST(SumInto, RoundsOnceInBfloat16) {
  for (const at::Device device : testDevices()) {
    const auto one = [&](float value) { return at::full({5}, value, at::device(device).dtype(at::kBFloat16)); };
    at::Tensor out = at::empty({5}, at::device(device).dtype(at::kBFloat16));
    sumInto(out, std::vector{one(256), one(0.75F), one(0.75F)});
    EXPECT_TRUE(out.eq(258).all().item<bool>()) << "256 when each sum is rounded, " << device;
  }
}

TEST(SumInto, RefusesSourcesThatDoNotFit) {
  at::Tensor out = at::empty({5});
  EXPECT_ANY_THROW(sumInto(out, {}));
  EXPECT_ANY_THROW(sumInto(out, std::vector{at::zeros({4})}));
  EXPECT_ANY_THROW(sumInto(out, std::vector{at::zeros({5}, at::kBFloat16)}));
  EXPECT_ANY_THROW(sumInto(out, std::vector{at::zeros({10}).slice(0, 0, 10, 2)}));
}

}  // namespace
}  // namespace tandem

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/text.h"
#include "optim/optimizer.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

// What holds for each row of the catalog.
class EveryOptimizer : public testing::TestWithParam<const OptimizerEntry*> {
 protected:
  OptimizerOptions options() const {
    return {.rule = GetParam(), .learningRate = 0.01, .weightDecay = 0.1, .trust = 0.5};
  }
  static FlatBuffers buffers(const Precision& precision, at::Device device = at::kCPU) {
    return {{{"a.weight", {700}, false}, {"b.weight", {5}, true}}, precision, device, at::MemoryFormat::Contiguous};
  }
  /// Every precision, on every device.
  static void forEach(const std::function<void(const Precision&, at::Device)>& expect) {
    for (const at::Device device : testDevices()) {
      for (const Precision& precision : precisions()) {
        SCOPED_TRACE(concat(precision.name, " on ", device.str()));
        expect(precision, device);
      }
    }
  }
  static void fill(FlatBuffers& buffers) {
    for (int i = 0; i < buffers.parameters(); ++i) {
      buffers.masterView(i).copy_(at::arange(buffers.slice(i).count()).cos());
    }
    buffers.refreshWeights();
  }
  static void setGradients(FlatBuffers& buffers, int64_t step) {
    for (int i = 0; i < buffers.parameters(); ++i) {
      buffers.gradientView(i).copy_((at::arange(buffers.slice(i).count()) + step).sin());
    }
  }
};

TEST_P(EveryOptimizer, MovesItsSliceAndLeavesOthersAlone) {
  forEach([&](const Precision& precision, at::Device device) {
    FlatBuffers buffers = EveryOptimizer::buffers(precision, device);
    fill(buffers);
    setGradients(buffers, 0);
    const at::Tensor a = buffers.masterView(0).clone(), b = buffers.masterView(1).clone();
    const auto optimizer = makeOptimizer(buffers, options());
    EXPECT_THROW(optimizer->update(buffers.slice(0)), InternalError) << "of no step";
    optimizer->beginStep(0, 1);
    optimizer->update(buffers.slice(0));
    EXPECT_GT((buffers.masterView(0) - a).norm().item<double>(), 1e-3);
    EXPECT_TRUE(at::equal(buffers.masterView(1), b));
    EXPECT_TRUE(at::equal(buffers.weightView(0), buffers.masterView(0).to(precision.compute)));
  });
}

TEST_P(EveryOptimizer, SlicesCutAnewAtEachStepGiveTheBitsOfTheWhole) {
  forEach([&](const Precision& precision, at::Device device) {
    FlatBuffers whole = buffers(precision, device), parts = buffers(precision, device);
    fill(whole);
    fill(parts);
    const auto ofWhole = makeOptimizer(whole, options()), ofParts = makeOptimizer(parts, options());
    for (int64_t step = 0; step < 4; ++step) {
      setGradients(whole, step);
      setGradients(parts, step);
      const Slice all = whole.slice(0);
      const int64_t cut = all.begin + 101 * (step + 1);
      ofWhole->beginStep(step, 0.5);
      ofParts->beginStep(step, 0.5);
      ofWhole->update(all);
      if (GetParam()->needsWholeParameters) {
        EXPECT_THROW(ofParts->update({all.segment, cut, all.end}), InternalError);
        EXPECT_THROW(ofParts->update({all.segment, all.begin, cut}), InternalError);
        return;
      }
      ofParts->update({all.segment, cut, all.end});
      ofParts->update({all.segment, all.begin, cut});
    }
    EXPECT_TRUE(at::equal(parts.masterView(0), whole.masterView(0)));
    EXPECT_TRUE(at::equal(parts.weightView(0), whole.weightView(0)));
  });
}

TEST_P(EveryOptimizer, KeepsAsManyValuesPerWeightAsItsRowSays) {
  for (const double momentum : {0.0, 0.9}) {
    FlatBuffers buffers = EveryOptimizer::buffers(precisions().front());
    OptimizerOptions options = EveryOptimizer::options();
    options.momentum = momentum, options.average.decay = momentum;
    const int64_t without = buffers.bytes(), ofOneValue = 4 * buffers.whole(0).count();
    const auto optimizer = makeOptimizer(buffers, options);
    EXPECT_EQ(buffers.bytes(), without) << "nothing before it is needed";
    optimizer->allocateState();
    EXPECT_EQ(buffers.bytes(), without + stateValues(options) * ofOneValue);
    const int64_t allocated = buffers.bytes();
    optimizer->beginStep(0, 1);
    optimizer->update(buffers.whole(0));
    EXPECT_EQ(buffers.bytes(), allocated);
  }
}

// By ATen in fp64, which knows the rule alone; with all that is for some parameters only.
TEST_P(EveryOptimizer, UpdatesAsItsReferenceDoes) {
  constexpr Precision fp64{"fp64", "", at::kDouble, at::kDouble, at::kDouble, false};
  OptimizerOptions some = options();
  some.decaysWeightsAlone = true, some.clipNorm = 2, some.average.decay = 0.7;
  for (const OptimizerOptions& options : {EveryOptimizer::options(), some}) {
    FlatBuffers own = buffers(precisions().front()), exact = buffers(fp64);
    fill(own), fill(exact);
    const auto optimizer = makeOptimizer(own, options);
    const auto reference = GetParam()->makeReference(exact, options);
    for (int64_t step = 0; step < 3; ++step) {
      setGradients(own, step), setGradients(exact, step);
      optimizer->beginStep(step, 0.5), reference->beginStep(step, 0.5);
      for (const auto& [each, of] : {std::pair{optimizer.get(), &own}, {reference.get(), &exact}}) {
        if (each->clips()) each->measure(of->whole(0)), each->clip(each->squares());
        each->update(of->whole(0));
      }
    }
    for (int i = 0; i < own.parameters(); ++i) {
      const at::Tensor expected = exact.masterView(i);
      EXPECT_LT((own.masterView(i) - expected).norm().item<double>(), 1e-6 * expected.norm().item<double>());
      if (!options.average.isKept()) continue;
      const at::Tensor average = exact.stateView(averageState(options), i);
      EXPECT_LT((own.stateView(averageState(options), i) - average).norm().item<double>(), 1e-6);
    }
  }
}

TEST_P(EveryOptimizer, TrainsTheHeadAloneIfItShall) {
  FlatBuffers buffers({{.name = "a.weight", .shape = {70}},
                       {.name = "b.weight", .shape = {30}, .isHead = true},
                       {.name = "b.bias", .shape = {5}, .isWeight = false, .isHead = true},
                       {.name = "c.weight", .shape = {40}}},
                      precisions().front(), at::kCPU, at::MemoryFormat::Contiguous);
  fill(buffers);
  setGradients(buffers, 0);
  std::vector<at::Tensor> before;
  for (int i = 0; i < 4; ++i) before.push_back(buffers.masterView(i).clone());
  OptimizerOptions options = EveryOptimizer::options();
  options.trainsHeadAlone = true, options.average.decay = 0.5;
  const auto optimizer = makeOptimizer(buffers, options);
  optimizer->beginStep(0, 1);
  optimizer->update(buffers.whole(0));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(at::equal(buffers.masterView(i), before[static_cast<size_t>(i)]), !buffers.spec(i).isHead) << i;
    const at::Tensor average = (before[static_cast<size_t>(i)] + buffers.masterView(i)) / 2;
    EXPECT_LT((buffers.stateView(averageState(options), i) - average).norm().item<double>(), 1e-6) << i;
  }
}

// A shift with a rate of its own, and what is behind a whitening convolution.
TEST_P(EveryOptimizer, PartsWithARuleChangeByIt) {
  const auto buffersOf = [] {
    FlatBuffers buffers({{.name = "a.weight", .shape = {70}},
                         {.name = "a.shift", .shape = {30}, .isWeight = false, .isShift = true},
                         {.name = "w.bias", .shape = {24}, .isWeight = false, .whitens = true},
                         {.name = "w.weight", .shape = {48}, .whitens = true}},
                        precisions().front(), at::kCPU, at::MemoryFormat::Contiguous);
    fill(buffers);
    return buffers;
  };
  OptimizerOptions plain = options();
  OptimizerOptions ruled = plain, fast = plain;
  ruled.shiftRate = 8, ruled.whiteningSteps = 2;
  fast.learningRate *= 8, fast.weightDecay /= 8;
  FlatBuffers own = buffersOf(), usual = buffersOf(), faster = buffersOf();
  const auto optimizer = makeOptimizer(own, ruled), asUsual = makeOptimizer(usual, plain),
             asFaster = makeOptimizer(faster, fast);
  const at::Tensor fixed = own.masterView(3).clone();
  at::Tensor bias;
  for (int64_t step = 0; step < 5; ++step) {
    for (const auto& [each, of] :
         {std::pair{optimizer.get(), &own}, {asUsual.get(), &usual}, {asFaster.get(), &faster}}) {
      setGradients(*of, step);
      each->beginStep(step, 0.5);
      each->update(of->whole(0));
    }
    if (step == 1) bias = usual.masterView(2).clone();
  }
  const auto difference = [](const at::Tensor& a, const at::Tensor& b) { return (a - b).norm().item<double>(); };
  EXPECT_TRUE(at::equal(own.masterView(0), usual.masterView(0)));
  EXPECT_LT(difference(own.masterView(1), faster.masterView(1)), 1e-5 * faster.masterView(1).norm().item<double>());
  EXPECT_GT(difference(own.masterView(1), usual.masterView(1)), 1e-3);
  EXPECT_TRUE(at::equal(own.masterView(2), bias)) << "that of two steps";
  EXPECT_TRUE(at::equal(own.masterView(3), fixed));
}

INSTANTIATE_TEST_SUITE_P(Catalog, EveryOptimizer, testing::ValuesIn([] {
                           std::vector<const OptimizerEntry*> rows;
                           for (const OptimizerEntry& row : optimizers()) rows.push_back(&row);
                           return rows;
                         }()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace tandem

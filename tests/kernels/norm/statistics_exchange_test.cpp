#include "kernels/norm/statistics_exchange.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "kernels/conv/nchwc.h"
#include "kernels/norm/norm_act.h"
#include "support/relative_error.h"

namespace tandem {
namespace {

constexpr int64_t channels = 16, height = 3, width = 5;

/// What all threads gave is added up by the last that arrives.
class SumOfThreads {
 public:
  explicit SumOfThreads(int count) : meet_(count), given_(static_cast<size_t>(count)) {}

  class Handle final : public StatisticsExchange {
   public:
    Handle(SumOfThreads& all, size_t index) : all_(all), index_(index) {}
    void sum(at::Tensor values) override {
      EXPECT_EQ(values.scalar_type(), at::kDouble);
      EXPECT_EQ(values.dim(), 1);
      all_.given_[index_] = values.clone();
      all_.meet_.arrive_and_wait();
      at::Tensor sum = at::zeros_like(values);
      for (const at::Tensor& given : all_.given_) sum.add_(given);
      values.copy_(sum);
      all_.meet_.arrive_and_wait();
    }

   private:
    SumOfThreads& all_;
    size_t index_;
  };

 private:
  std::barrier<> meet_;
  std::vector<at::Tensor> given_;
};

struct Course {
  at::Tensor y, dx, dresidual, dscale, dshift, runningMean, runningVar;
};

struct Form {
  std::string name;
  at::ScalarType type = at::kFloat;
  at::MemoryFormat format = at::MemoryFormat::ChannelsLast;
  bool residual = false, blocked = false, again = false;
  Activation activation = Activation::relu;
};

NormParameters parametersOf() {
  const at::Tensor ramp = at::arange(channels, at::kFloat);
  return {1 + ramp * 0.1, ramp * 0.05 - 0.3, ramp.clone(), 1 + ramp};
}

at::Tensor placed(const at::Tensor& images, const Form& form) {
  const at::Tensor tensor = images.to(form.type).contiguous(form.format);
  return form.blocked ? toBlocked(tensor) : tensor;
}

at::Tensor plain(const at::Tensor& tensor, const Form& form, int64_t images) {
  if (!tensor.defined()) return tensor;
  return (form.blocked ? fromBlocked(tensor, images) : tensor).to(at::kDouble);
}

Course run(const Form& form, const at::Tensor& x, const at::Tensor& dy, StatisticsExchange* exchange) {
  const int64_t images = x.size(0);
  const NormParameters parameters = parametersOf();
  const NormActOptions options{.activation = form.activation, .exchange = exchange};
  const at::Tensor input = placed(x, form), added = form.residual ? placed(x.flip(1) * 0.1, form) : at::Tensor();
  NormActSaved saved;
  at::Tensor y = normAct(input, added, parameters, options, saved);
  if (form.again) y = normActAgain(input, added, options, saved);
  const NormActGradients gradients = normActBackward({placed(dy, form)}, saved, form.residual, options);
  return {plain(y, form, images),  plain(gradients.x, form, images), plain(gradients.residual, form, images),
          gradients.scale.clone(), gradients.shift.clone(),          parameters.runningMean,
          parameters.runningVar};
}

/// Each of `shares` on a thread of its own.
std::vector<Course> runJoined(const Form& form, const at::Tensor& x, const at::Tensor& dy,
                              const std::vector<int64_t>& shares) {
  SumOfThreads all(static_cast<int>(shares.size()));
  std::vector<Course> courses(shares.size());
  std::vector<std::jthread> threads;
  int64_t first = 0;
  for (size_t i = 0; i < shares.size(); first += shares[i++]) {
    threads.emplace_back([&, i, first] {
      SumOfThreads::Handle handle(all, i);
      courses[i] = run(form, x.narrow(0, first, shares[i]), dy.narrow(0, first, shares[i]), &handle);
    });
  }
  return threads.clear(), courses;
}

std::vector<Form> forms() {
  return {{.name = "fp32"},
          {.name = "without ReLU", .activation = Activation::none},
          {.name = "with SiLU", .activation = Activation::silu},
          {.name = "with a residual", .residual = true},
          {.name = "repeated", .again = true},
          {.name = "blocked", .blocked = true},
          {.name = "bf16", .type = at::kBFloat16},
          {.name = "NCHW", .format = at::MemoryFormat::Contiguous},
          {.name = "NCHW without ReLU", .format = at::MemoryFormat::Contiguous, .activation = Activation::none},
          {.name = "NCHW with SiLU", .format = at::MemoryFormat::Contiguous, .activation = Activation::silu},
          {.name = "NCHW with ReLU6", .format = at::MemoryFormat::Contiguous, .activation = Activation::relu6},
          {.name = "NCHW with a residual", .format = at::MemoryFormat::Contiguous, .residual = true},
          {.name = "NCHW repeated", .format = at::MemoryFormat::Contiguous, .again = true},
          {.name = "bf16 NCHW", .type = at::kBFloat16, .format = at::MemoryFormat::Contiguous}};
}

void expectOneBatch(const Form& form, const std::vector<Course>& shares, const Course& whole) {
  const double bound = form.type == at::kFloat ? 3e-6 : 2e-2;
  const auto joined = [&](at::Tensor Course::*field) {
    std::vector<at::Tensor> parts;
    for (const Course& share : shares) parts.push_back(share.*field);
    return at::cat(parts);
  };
  const auto sum = [&](at::Tensor Course::*field) {
    at::Tensor total = at::zeros_like(whole.*field, at::kDouble);
    for (const Course& share : shares) total.add_(share.*field);
    return total;
  };
  EXPECT_LE(relativeError(joined(&Course::y), whole.y), bound) << form.name;
  EXPECT_LE(relativeError(joined(&Course::dx), whole.dx), 2 * bound) << form.name;
  if (form.residual) {
    EXPECT_LE(relativeError(joined(&Course::dresidual), whole.dresidual), bound) << form.name;
  }
  EXPECT_LE(relativeError(sum(&Course::dscale), whole.dscale), bound) << form.name;
  EXPECT_LE(relativeError(sum(&Course::dshift), whole.dshift), bound) << form.name;
  for (const Course& share : shares) {
    EXPECT_LE(relativeError(share.runningMean, whole.runningMean), bound) << form.name;
    EXPECT_LE(relativeError(share.runningVar, whole.runningVar), bound) << form.name;
    EXPECT_TRUE(at::equal(share.runningVar, shares.front().runningVar)) << form.name;
  }
}

TEST(StatisticsExchange, SharesAreNormalisedAsOneBatch) {
  const at::Tensor images = at::arange(7 * channels * height * width, at::kFloat).view({7, channels, height, width});
  const at::Tensor x = at::sin(images * 0.7) + at::cos(images * 0.013) * 2, dy = at::cos(images * 1.3);
  for (const Form& form : forms()) {
    const Course whole = run(form, x, dy, nullptr);
    expectOneBatch(form, runJoined(form, x, dy, {7}), whole);
    expectOneBatch(form, runJoined(form, x, dy, {3, 4}), whole);
    expectOneBatch(form, runJoined(form, x, dy, {1, 1, 5}), whole);
  }
}

// Of the batch's moments the variance must not cancel where the mean is many deviations away.
TEST(StatisticsExchange, AFarMeanKeepsTheVariance) {
  const ChannelMoments own{at::full({2}, 1000.0, at::kDouble), at::full({2}, 1e-2, at::kDouble)};
  SumOfThreads alone(1);
  SumOfThreads::Handle handle(alone, 0);
  const JoinedMoments all = joined(own, 50, &handle);
  EXPECT_EQ(all.values, 50);
  EXPECT_LE(relativeError(all.moments.variance, own.variance), 1e-7);
  EXPECT_LE(relativeError(all.moments.mean, own.mean), 1e-12);
}

}  // namespace
}  // namespace tandem

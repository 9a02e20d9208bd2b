#include "train/captured_step.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "device/out_of_memory.h"
#include "run/repeated_work.h"

namespace tandem {
namespace {

/// What a step was given, and the step itself: its loss is the mean of the images and the sum of the labels. A record
/// writes it to the same memory in every launch.
struct Seen {
  std::vector<const void*> images;
  std::vector<double> means;
  at::Tensor recorded = at::zeros({});
  at::Tensor step(const Batch& batch) {
    images.push_back(batch.images.const_data_ptr());
    means.push_back(batch.images.mean().item<double>());
    const at::Tensor loss = batch.images.mean() + batch.labels.sum();
    return images.size() > CapturedStep::eagerSteps ? recorded.copy_(loss) : loss;
  }
};

struct Steps {
  Seen seen;
  WorkLog log;
  CapturedStep graphed{std::make_unique<RepeatedGraph>(log), [this](const Batch& batch) { return seen.step(batch); },
                       at::detail::createCPUGenerator(1)};
};

Batch batchOf(double value) {
  return {.images = at::full({2, 3, 4, 4}, value), .labels = at::zeros({2}, at::kLong), .index = 0, .ready = nullptr};
}

TEST(CapturedStep, RunsAFewStepsRecordsOneAndLaunchesItFromThenOn) {
  Steps steps;
  for (int i = 0; i < CapturedStep::eagerSteps; ++i) steps.graphed.run(batchOf(i));
  EXPECT_TRUE(steps.log.empty());
  EXPECT_EQ(steps.seen.means.size(), static_cast<size_t>(CapturedStep::eagerSteps));
  for (int i = 0; i < 3; ++i) steps.graphed.run(batchOf(i));
  EXPECT_EQ(steps.log, WorkLog({"record", "launch", "launch", "launch"}));
}

TEST(CapturedStep, EachBatchComesToWhereTheRecordReads) {
  Steps steps;
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(steps.graphed.run(batchOf(i)).item<double>(), i);
    EXPECT_EQ(steps.seen.means.back(), i);
    if (i > CapturedStep::eagerSteps) {
      EXPECT_EQ(steps.seen.images.back(), steps.seen.images[CapturedStep::eagerSteps]);
    }
  }
}

TEST(CapturedStep, LabelsComeWithTheirImages) {
  Steps steps;
  for (int i = 0; i < 6; ++i) {
    Batch batch = batchOf(0);
    batch.labels.fill_(i);
    EXPECT_EQ(steps.graphed.run(batch).item<double>(), 2 * i);
  }
}

TEST(CapturedStep, AGivenLossStaysWhatItWas) {
  Steps steps;
  std::vector<at::Tensor> losses;
  for (int i = 0; i < 7; ++i) losses.push_back(steps.graphed.run(batchOf(i)));
  for (int i = 0; i < 7; ++i) EXPECT_EQ(losses[static_cast<size_t>(i)].item<double>(), i);
}

TEST(CapturedStep, TheSameTensorsAreReadWhereTheyAre) {
  Steps steps;
  const Batch batch = batchOf(1);
  for (int i = 0; i < 6; ++i) steps.graphed.run(batch);
  for (const void* images : steps.seen.images) EXPECT_EQ(images, batch.images.const_data_ptr());
}

TEST(CapturedStep, CallsOfTheHostAreMadeInEveryStep) {
  WorkLog log;
  int calls = 0;
  std::optional<CapturedStep> graphed;
  const auto work = [&](const Batch&) {
    graphed->call([&calls] { ++calls; });
    return at::Tensor();
  };
  graphed.emplace(std::make_unique<RepeatedGraph>(log), work, at::detail::createCPUGenerator(1));
  for (int i = 0; i < CapturedStep::eagerSteps; ++i) graphed->run(batchOf(i));
  EXPECT_EQ(calls, CapturedStep::eagerSteps);
  EXPECT_TRUE(log.empty());
  for (int i = 0; i < 2; ++i) graphed->run(batchOf(i));
  EXPECT_EQ(calls, CapturedStep::eagerSteps + 2);
  EXPECT_EQ(log, WorkLog({"record", "launch", "call", "launch", "call"}));
}

TEST(CapturedStep, ALaunchIsASpanAroundTheCallsOfTheHost) {
  WorkLog log;
  std::optional<CapturedStep> graphed;
  const auto work = [&](const Batch&) {
    { const Span forward(SpanKind::forward); }
    graphed->call([] { const Span handingOver(SpanKind::exchange); });
    return at::Tensor();
  };
  graphed.emplace(std::make_unique<RepeatedGraph>(log), work, at::detail::createCPUGenerator(1));
  for (int i = 0; i <= CapturedStep::eagerSteps; ++i) graphed->run(batchOf(i));
  SpanRecorder recorder(8);
  {
    const SpanRecording recorded(&recorder);
    graphed->run(batchOf(9));
  }
  const auto spans = recorder.spans();
  ASSERT_EQ(spans.size(), 3U);
  const SpanKind kinds[] = {SpanKind::input, SpanKind::launch, SpanKind::exchange};
  const int depths[] = {0, 0, 1};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(spans[i].kind, kinds[i]) << i;
    EXPECT_EQ(spans[i].depth, depths[i]) << i;
  }
}

/// As far as the step whose record fails so.
void recordWhere(std::function<void()> fails) {
  CapturedStep graphed(
      std::make_unique<WatchedWork>(std::move(fails)), [](const Batch&) { return at::Tensor(); },
      at::detail::createCPUGenerator(1));
  for (int i = 0; i <= CapturedStep::eagerSteps; ++i) graphed.run(batchOf(i));
}

TEST(CapturedStep, WhyItCannotBeRecordedIsOneLine) {
  try {
    recordWhere([] { TORCH_CHECK(false, "operation not permitted when stream is capturing"); });
    ADD_FAILURE() << "recorded";
  } catch (const CaptureFailed& failure) {
    EXPECT_STREQ(failure.what(), "operation not permitted when stream is capturing");
  }
}

// Without a graph the step might fit; but then the batch that is found would not be that of the step with one.
TEST(CapturedStep, RefusedMemoryIsNotAStepThatCannotBeRecorded) {
  EXPECT_THROW(recordWhere([] { TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory."); }),
               c10::OutOfMemoryError);
  EXPECT_THROW(recordWhere([] { throw std::bad_alloc(); }), std::bad_alloc);
  try {
    recordWhere([] { TORCH_CHECK(false, "CUDA error: out of memory"); });  // of a library that allocates by itself
    ADD_FAILURE() << "recorded";
  } catch (const c10::Error& failure) {
    EXPECT_TRUE(isOutOfMemory(failure));
  }
}

TEST(CapturedStep, WithoutALossThereIsNone) {
  WorkLog log;
  CapturedStep graphed(
      std::make_unique<RepeatedGraph>(log), [](const Batch&) { return at::Tensor(); },
      at::detail::createCPUGenerator(1));
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(graphed.run(batchOf(i)).defined());
}

}  // namespace
}  // namespace tandem

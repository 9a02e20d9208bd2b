#include "run/outcome_of_exception.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <new>

#include "base/error.h"

namespace tandem {
namespace {

template <class Call>
Outcome outcomeOfCall(Call call, const Config& config = {}) {
  try {
    call();
  } catch (const std::exception& failure) {
    return outcomeOf(failure, config);
  }
  return {};
}

void expectOutOfMemory(const Outcome& outcome, const std::string& part) {
  EXPECT_EQ(outcome.kind, OutcomeKind::failed);
  EXPECT_EQ(outcome.code, ExitCode::usage);
  EXPECT_TRUE(outcome.outOfMemory);
  EXPECT_TRUE(std::ranges::none_of(outcome.reason, [](char c) { return c == '\n'; })) << outcome.reason;
  for (const std::string& text : {part, std::string("out of memory"), std::string("lower --batch")}) {
    EXPECT_NE(outcome.reason.find(text), std::string::npos) << text << " in " << outcome.reason;
  }
}

TEST(Failure, ARefusalOfLibtorchIsOneLineWithWhatWasAsked) {
  const Outcome outcome = outcomeOfCall([] { at::empty({int64_t{1} << 46}, at::kByte); });
  expectOutOfMemory(outcome, "70368744177664 bytes");
  EXPECT_NE(outcome.reason.find(" are left; lower --batch"), std::string::npos) << outcome.reason;
  EXPECT_EQ(outcome.reason.find("alloc_cpu"), std::string::npos) << "a place in libtorch's source: " << outcome.reason;
}

TEST(Failure, ARefusalOfAGpuIsOneLineWithoutHintsOnItsAllocator) {
  Config config;
  config.placement.devices = "cuda:0";
  const Outcome outcome = outcomeOfCall(
      [] {
        TORCH_CHECK_WITH(OutOfMemoryError, false,
                         "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 1.00 GiB free. If reserved but "
                         "unallocated memory is large try setting something");
      },
      config);
  expectOutOfMemory(outcome, "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 1.00 GiB free.; lower");
  EXPECT_EQ(outcome.reason.find("try setting"), std::string::npos);
}

TEST(Failure, OtherLibrariesSayItInOtherWords) {
  expectOutOfMemory(outcomeOfCall([] { throw std::bad_alloc(); }), "refused a request");
  for (const char* text :
       {"CUDA error: out of memory", "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"}) {
    expectOutOfMemory(outcomeOfCall([&] { TORCH_CHECK(false, text); }), text);
  }
}

TEST(Failure, OfAnythingElseClassAndFirstLineAreKept) {
  const Outcome numeric = outcomeOfCall([] { throw NumericError("the loss is nan"); });
  EXPECT_EQ(numeric.code, ExitCode::numeric);
  EXPECT_EQ(numeric.reason, "the loss is nan");
  EXPECT_FALSE(numeric.outOfMemory);
  const Outcome library = outcomeOfCall([] { TORCH_CHECK(false, "sizes differ"); });
  EXPECT_EQ(library.code, ExitCode::internal);
  EXPECT_EQ(library.reason, "sizes differ") << "without libtorch's stack trace";
}

TEST(Failure, TheAdviceFitsTheRunAndCanBeTakenOff) {
  Config forward;
  forward.step.forwardOnly = true;
  EXPECT_EQ(memoryAdvice(forward).find("--recompute"), std::string::npos);
  EXPECT_NE(memoryAdvice(Config()).find("--batch=max"), std::string::npos);
  for (const Config& config : {forward, Config()}) {
    EXPECT_EQ(withoutAdvice("out of memory; 1 GiB" + memoryAdvice(config)), "out of memory; 1 GiB");
  }
  EXPECT_EQ(withoutAdvice("the loss is nan"), "the loss is nan");
}

}  // namespace
}  // namespace tandem

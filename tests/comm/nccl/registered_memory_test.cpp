#include "comm/nccl/registered_memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "base/text.h"

namespace tandem {
namespace {

/// What was asked of a library, in order, over several communicators. Blocks are numbered from 0.
struct Asked {
  std::vector<std::string> calls;
  std::vector<std::vector<char>> blocks;
  std::string refuses;  // the call that does

  std::vector<std::string> take() { return std::exchange(calls, {}); }
};

class StandIn final : public CommunicatorMemory {
 public:
  explicit StandIn(Asked& asked) : asked_(asked) {}

  void* allocate(int64_t bytes) override {
    asked_.blocks.emplace_back(static_cast<size_t>(bytes), 'x');
    note("allocate", asked_.blocks.back().data());
    return asked_.blocks.back().data();
  }
  void release(void* memory) noexcept override { asked_.calls.push_back(concat("release ", numberOf(memory))); }
  void* enroll(void* memory, int64_t bytes) override {
    EXPECT_EQ(asked_.blocks[numberOf(memory)].size(), static_cast<size_t>(bytes));
    note("enroll", memory);
    return static_cast<char*>(memory) + 1;  // a handle is no memory
  }
  void withdraw(void* handle) noexcept override {
    asked_.calls.push_back(concat("withdraw ", numberOf(static_cast<char*>(handle) - 1)));
  }
  c10::Device device() const override { return at::kCPU; }

 private:
  size_t numberOf(const void* memory) const {
    size_t number = 0;
    while (asked_.blocks.at(number).data() != memory) ++number;
    return number;
  }
  void note(const std::string& call, const void* memory) {
    asked_.calls.push_back(concat(call, ' ', numberOf(memory)));
    if (asked_.refuses == call) throw Refused(concat(call, " refused: no more of it"));
  }

  Asked& asked_;
};

using Calls = std::vector<std::string>;

class RegisteredMemoryTest : public testing::Test {
 protected:
  RegisteredMemoryTest() { asked_.blocks.reserve(16); }
  void end(RegisteredMemory& memory, bool hasWork = false) {
    if (!hasWork) memory.withdrawAll();
    asked_.calls.emplace_back("communicator ends");
    memory.releaseUnused();
  }

  Asked asked_;
  std::optional<RegisteredMemory> memory_{std::in_place, std::make_unique<StandIn>(asked_)};
};

TEST_F(RegisteredMemoryTest, GivesTensorsInMemoryThatWasEnrolled) {
  EXPECT_EQ(memory_->text("NCCL"), "") << "nobody asked";
  const at::Tensor floats = memory_->allocate(6, at::kFloat), halves = memory_->allocate(10, at::kHalf);
  EXPECT_EQ(asked_.take(), (Calls{"allocate 0", "enroll 0", "allocate 1", "enroll 1"}));
  EXPECT_EQ(memory_->text("NCCL"), "registered with NCCL");
  EXPECT_EQ(floats.data_ptr(), asked_.blocks[0].data());
  EXPECT_EQ(floats.scalar_type(), at::kFloat);
  EXPECT_EQ(asked_.blocks[1].size(), 20U);
  at::Tensor(floats).fill_(3);
  EXPECT_EQ(floats.sum().item<double>(), 18);
  EXPECT_EQ(halves.numel(), 10);
  end(*memory_);
}

TEST_F(RegisteredMemoryTest, IsWithdrawnBeforeTheCommunicatorEndsAndReleasedAfterIt) {
  at::Tensor first = memory_->allocate(1, at::kFloat), second = memory_->allocate(2, at::kFloat);
  asked_.take();
  first.reset();
  EXPECT_EQ(asked_.take(), Calls{}) << "the communicator may still work on it";
  end(*memory_);
  EXPECT_EQ(asked_.take(), (Calls{"withdraw 0", "withdraw 1", "communicator ends", "release 0"}));
  second.fill_(1);
  memory_.reset();
  EXPECT_EQ(asked_.take(), Calls{}) << "a tensor outlives it";
  second.reset();
  EXPECT_EQ(asked_.take(), Calls{"release 1"});
}

TEST_F(RegisteredMemoryTest, WhileWorkGoesOnNothingIsWithdrawn) {
  memory_->allocate(1, at::kFloat);
  asked_.take();
  end(*memory_, /*hasWork=*/true);
  EXPECT_EQ(asked_.take(), (Calls{"communicator ends", "release 0"}));
}

TEST_F(RegisteredMemoryTest, ARefusalIsOneLineAndFinal) {
  for (const char* call : {"allocate", "enroll"}) {
    asked_.refuses = call;
    RegisteredMemory memory(std::make_unique<StandIn>(asked_));
    asked_.take();
    EXPECT_FALSE(memory.allocate(1, at::kFloat).defined());
    const Calls calls = asked_.take();
    EXPECT_EQ(memory.text("NCCL"), concat("libtorch's memory: ", call, " refused: no more of it"));
    asked_.refuses.clear();
    EXPECT_FALSE(memory.allocate(1, at::kFloat).defined()) << "segments lie in one kind of memory";
    EXPECT_EQ(asked_.take(), Calls{});
    end(memory);
    EXPECT_EQ(asked_.take(), Calls{"communicator ends"});
    const bool allocated = std::string(call) == "enroll";
    EXPECT_EQ(calls.back().starts_with("release"), allocated) << "what could not be enrolled is given back";
    EXPECT_EQ(calls.size(), allocated ? 3U : 1U);
  }
}

}  // namespace
}  // namespace tandem

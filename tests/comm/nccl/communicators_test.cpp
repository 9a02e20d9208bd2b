#include "comm/nccl/communicators.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <latch>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

using Calls = std::vector<std::string>;

/// What was asked of the library, in order, over all ranks.
class Asked {
 public:
  void add(std::string call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }
  Calls take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }

 private:
  std::mutex mutex_;
  Calls calls_;
};

class StandInMemory final : public CommunicatorMemory {
 public:
  StandInMemory(Asked& asked, size_t rank) : asked_(asked), rank_(rank) {}

  void* allocate(int64_t) override { return &memory_; }
  void release(void*) noexcept override { asked_.add(concat("release ", rank_)); }
  void* enroll(void* memory, int64_t) override { return memory; }
  void withdraw(void*) noexcept override { asked_.add(concat("withdraw ", rank_)); }
  c10::Device device() const override { return at::kCPU; }

 private:
  Asked& asked_;
  const size_t rank_;
  float memory_ = 0;
};

class StandIn final : public Communicator {
 public:
  StandIn(Asked& asked, size_t rank)
      : asked_(asked), rank_(rank), memory_(std::make_unique<StandInMemory>(asked, rank)) {}

  bool hasWork() noexcept override { return works; }
  void abort() noexcept override {
    asked_.add(concat("abort ", rank_));
    ended.count_down();
  }
  RegisteredMemory& memory() override { return memory_; }

  bool works = false;
  std::latch ended{1};

 private:
  Asked& asked_;
  const size_t rank_;
  RegisteredMemory memory_;
};

class CommunicatorsTest : public testing::Test {
 protected:
  CommunicatorsTest() {
    std::vector<std::unique_ptr<Communicator>> communicators;
    for (size_t rank = 0; rank < 2; ++rank) {
      auto one = std::make_unique<StandIn>(asked_, rank);
      stands_.push_back(one.get());
      communicators.push_back(std::move(one));
    }
    all_.emplace(std::move(communicators));
    for (size_t rank = 0; rank < 2; ++rank) {  // given up at once, as by a replica that failed
      all_->use(rank, [&] { stands_[rank]->memory().allocate(1, at::kFloat); });
    }
  }

  Asked asked_;
  std::vector<StandIn*> stands_;
  std::optional<Communicators> all_;
};

TEST_F(CommunicatorsTest, EndTogetherAndNoMemoryIsReleasedBefore) {
  EXPECT_EQ(asked_.take(), Calls{}) << "another rank's device may still read it";
  all_.reset();
  EXPECT_EQ(asked_.take(), (Calls{"withdraw 0", "withdraw 1", "abort 0", "abort 1", "release 0", "release 1"}));
}

TEST_F(CommunicatorsTest, WhileOneHasWorkNothingIsWithdrawn) {
  stands_[1]->works = true;
  all_.reset();
  EXPECT_EQ(asked_.take(), (Calls{"abort 0", "abort 1", "release 0", "release 1"}));
}

TEST_F(CommunicatorsTest, AbortEndsTheirWorkAtOnceAndTheirMemoryStays) {
  all_->abort();
  for (StandIn* stand : stands_) stand->ended.wait();
  EXPECT_EQ(asked_.take(), (Calls{"abort 0", "abort 1"}));
  EXPECT_THROW(all_->use(0, [] {}), PeerError);
  all_.reset();
  EXPECT_EQ(asked_.take(), (Calls{"release 0", "release 1"}));
}

TEST_F(CommunicatorsTest, OneThatIsInUseEndsAfterItsCall) {
  all_->use(0, [&] {
    all_->abort();
    stands_[1]->ended.wait();
    EXPECT_EQ(asked_.take(), Calls{"abort 1"});
  });
  stands_[0]->ended.wait();
  EXPECT_EQ(asked_.take(), Calls{"abort 0"});
}

}  // namespace
}  // namespace tandem

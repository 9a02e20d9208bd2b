#include "data/loader/ordered_queue.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>

namespace tandem {
namespace {

// Producers that are slower for some indices, so that values become ready out of order.
void produce(OrderedQueue<int64_t>& queue, std::atomic<int64_t>& inTheMaking) {
  while (const auto index = queue.claim()) {
    ++inTheMaking;
    for (int64_t turn = 0; turn < (*index * 7919) % 40; ++turn) std::this_thread::yield();
    queue.put(*index, *index * 10);
  }
}

TEST(OrderedQueue, DeliversInOrderFromThreeProducers) {
  OrderedQueue<int64_t> queue(4);
  std::atomic<int64_t> claimed{0};
  std::vector<std::jthread> producers;
  for (int i = 0; i < 3; ++i) producers.emplace_back([&] { produce(queue, claimed); });
  for (int64_t k = 0; k < 3000; ++k) {
    const auto value = queue.take();
    ASSERT_TRUE(value.has_value());
    ASSERT_EQ(*value, 10 * k);
    ASSERT_LE(claimed, k + 1 + 4);
  }
  queue.stop();
}

/// Whether the system has put a thread of this process to sleep.
bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const size_t name = text.rfind(')');
  return name != std::string::npos && text.substr(name, 3) == ") S";
}

TEST(OrderedQueue, HoldsNoMoreThanItsCapacity) {
  OrderedQueue<int64_t> queue(2);
  EXPECT_EQ(queue.claim(), 0);
  EXPECT_EQ(queue.claim(), 1);
  std::atomic<bool> third{false};
  std::atomic<pid_t> claims{0};
  std::jthread waiting([&] {
    claims = gettid();
    third = queue.claim() == 2;
  });
  queue.put(1, 11);
  while (!third && (claims == 0 || !sleeps(claims))) std::this_thread::yield();
  EXPECT_FALSE(third);
  queue.put(0, 10);
  EXPECT_EQ(queue.take(), 10);
  waiting.join();
  EXPECT_TRUE(third);
  EXPECT_EQ(queue.take(), 11);
}

TEST(OrderedQueue, StopFreesProducersThatWaitForRoom) {
  OrderedQueue<int64_t> queue(1);
  std::atomic<int64_t> claimed{0};
  std::vector<std::jthread> producers;
  for (int i = 0; i < 3; ++i) producers.emplace_back([&] { produce(queue, claimed); });
  while (claimed == 0) std::this_thread::yield();
  queue.stop();
  producers.clear();
  EXPECT_EQ(claimed, 1);
  EXPECT_FALSE(queue.claim().has_value());
  EXPECT_FALSE(queue.take().has_value());
}

TEST(OrderedQueue, StopFreesTheConsumer) {
  OrderedQueue<int64_t> queue(1);
  std::jthread consumer([&] { EXPECT_FALSE(queue.take().has_value()); });
  queue.stop();
}

TEST(OrderedQueue, AFailureComesInItsOrderAndEndsTheQueue) {
  OrderedQueue<int64_t> queue(3);
  EXPECT_EQ(queue.claim(), 0);
  EXPECT_EQ(queue.claim(), 1);
  queue.fail(1, std::make_exception_ptr(std::runtime_error("broken")));
  EXPECT_FALSE(queue.claim().has_value());
  queue.put(0, 5);
  EXPECT_EQ(queue.take(), 5);
  EXPECT_THROW(queue.take(), std::runtime_error);
  EXPECT_THROW(queue.take(), std::runtime_error);
}

TEST(OrderedQueue, AFailureWakesAWaitingConsumer) {
  OrderedQueue<int64_t> queue(1);
  std::jthread producer([&] { queue.fail(*queue.claim(), std::make_exception_ptr(std::runtime_error("broken"))); });
  EXPECT_THROW(queue.take(), std::runtime_error);
}

}  // namespace
}  // namespace tandem
